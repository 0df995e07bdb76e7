import type { ConfigurationLevel, Manifest, Property } from '../../../schemas/generated/manifest.ts'
import { hintForName } from '../problems/nearest-name.ts'
import { quoteValue } from '../problems/visible-text.ts'
import type { Finding } from './finding.ts'

/** What the schema cannot say about settings: how the parts of a level fit together. */
export function checkConfigurations(manifest: Partial<Manifest>): Finding[] {
  return Object.entries(manifest.configurations ?? {}).flatMap(([name, level]) =>
    level === undefined ? [] : checkLevel(`/configurations/${name}`, level),
  )
}

function checkLevel(pointer: string, level: ConfigurationLevel): Finding[] {
  const findings: Finding[] = []
  const names = Object.keys(level.properties ?? {})
  if (level.properties !== undefined) {
    level.required?.forEach((name, index) => {
      if (names.includes(name)) return
      const message = `"required" names ${quoteValue(name)}, which is not among the properties`
      findings.push({
        pointer: `${pointer}/required/${index}`,
        at: 'value',
        message,
        hint: hintForName(name, names, 'properties'),
      })
    })
  }
  for (const [name, property] of Object.entries(level.properties ?? {})) {
    if (property !== undefined) findings.push(...checkProperty(`${pointer}/properties/${name}`, property))
  }
  return findings
}

function checkProperty(pointer: string, property: Property): Finding[] {
  const findings: Finding[] = []
  if (property.type === 'string' && property.enum !== undefined && property.default !== undefined) {
    if (!property.enum.includes(property.default)) {
      const message = `the default ${quoteValue(property.default)} is not among "enum"`
      findings.push({
        pointer: `${pointer}/default`,
        at: 'value',
        message,
        hint: hintForName(property.default, property.enum),
      })
    }
  }
  if (property.type === 'string' && property.completion_url !== undefined) {
    findings.push(...checkEndpointPath(`${pointer}/completion_url`, property.completion_url))
  }
  if (property.type === 'button') {
    findings.push(...checkEndpointPath(`${pointer}/callback_url`, property.callback_url))
  }
  return findings
}

/** The host calls `<public endpoint><path>`: with dot segments it would be another endpoint, or no endpoint. */
function checkEndpointPath(pointer: string, path: string): Finding[] {
  const [way = ''] = path.split(/[?#]/)
  if (!/(^|\/)(\.|%2e){1,2}(\/|$)/i.test(way)) return []
  return [
    {
      pointer,
      at: 'value',
      message: `the path ${quoteValue(path)} has "." or ".." segments`,
      hint: 'write the path without them',
    },
  ]
}
