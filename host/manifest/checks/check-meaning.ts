import type { ConfigurationLevel, Manifest, Property } from '../../../schemas/generated/manifest.ts'
import { hasDotSegments } from '../../config/dot-segments.ts'
import { quoteValue } from '../message-text.ts'
import { hintForName } from '../nearest-name.ts'
import type { Finding } from './finding.ts'
import { isWebAddress } from './web-address.ts'

/** What the schema cannot say about settings: how the parts of a level fit together. */
export function checkConfigurations(manifest: Partial<Manifest>): Finding[] {
  return Object.entries(manifest.configurations ?? {}).flatMap(([name, level]) =>
    level === undefined ? [] : checkLevel(`/configurations/${name}`, level),
  )
}

function checkLevel(pointer: string, level: ConfigurationLevel): Finding[] {
  const findings = checkNames(pointer, level)
  for (const [name, property] of Object.entries(level.properties ?? {})) {
    if (property !== undefined) findings.push(...checkProperty(`${pointer}/properties/${name}`, property))
  }
  return findings
}

/** What `required` and `requiredAny` name. */
function checkNames(pointer: string, { properties, required, requiredAny }: ConfigurationLevel): Finding[] {
  if (properties === undefined) return []
  const names = Object.keys(properties)
  const toggles = names.filter((name) => properties[name]?.type === 'boolean')
  const findings: Finding[] = []
  required?.forEach((name, index) => {
    if (names.includes(name)) return
    const message = `"required" names ${quoteValue(name)}, which is not among the properties`
    const hint = hintForName(name, names, 'properties')
    findings.push({ pointer: `${pointer}/required/${index}`, at: 'value', message, hint })
  })
  requiredAny?.forEach((name, index) => {
    // A property with a mistake of its own is left out: its type is not known.
    if (toggles.includes(name) || (names.includes(name) && properties[name] === undefined)) return
    const message = `"requiredAny" names ${quoteValue(name)}, which is not among the boolean properties`
    const hint = hintForName(name, toggles, 'boolean properties')
    findings.push({ pointer: `${pointer}/requiredAny/${index}`, at: 'value', message, hint })
  })
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
  if (property.type === 'string' && property.format === 'uri') {
    const texts = [
      ['default', property.default ?? ''] as const,
      ...(property.enum ?? []).map((text, index) => [`enum/${index}`, text] as const),
    ]
    for (const [field, text] of texts) {
      if (text === '' || isWebAddress(text)) continue
      const message = `${quoteValue(text)} is not a web address, which "format: uri" asks for`
      findings.push({ pointer: `${pointer}/${field}`, at: 'value', message, hint: 'begin it with https://' })
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
  if (!hasDotSegments(way)) return []
  return [
    {
      pointer,
      at: 'value',
      message: `the path ${quoteValue(path)} has "." or ".." segments`,
      hint: 'write the path without them',
    },
  ]
}
