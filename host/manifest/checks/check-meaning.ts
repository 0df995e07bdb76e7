import type { ConfigurationLevel, Manifest, Property, Scope } from '../../../schemas/generated/manifest.ts'
import { hintForName, quoteValue } from '../message-text.ts'
import { scopesWithoutEffect } from '../permissions.ts'
import type { Finding } from '../problem.ts'
import { isOperatorsOwn, type ReadOptions, toOtherNames } from '../read-options.ts'
import { checkSecrets } from '../secrets.ts'
import { isWebAddress } from '../settings/settings-schema.ts'
import { checkContentSecurityPolicy } from './content-security-policy.ts'

/** Checks a manifest beyond its schema, without reading other files. */
export const checkMeaning = (manifest: Partial<Manifest>, options: ReadOptions): Finding[] => [
  ...checkDuplicates(manifest),
  ...checkInternalScopes(manifest, options),
  ...checkScopesWithoutEffect(manifest),
  ...checkConfigurations(manifest),
  ...checkSecrets(manifest, options),
  ...checkContentSecurityPolicy(manifest),
  ...checkEnvs(manifest),
]

/** Reports each repeated entry of a list whose entries are unique. */
function checkDuplicates(manifest: Partial<Manifest>): Finding[] {
  const findings: Finding[] = []
  const check = (
    list: readonly unknown[] | undefined,
    pointer: string,
    pick: (entry: never) => string,
    step = '',
  ) => {
    const seen = new Set<string>()
    list?.forEach((entry, index) => {
      const value = pick(entry as never)
      if (seen.has(value)) {
        const message = `${quoteValue(value)} is given twice`
        findings.push({
          pointer: `${pointer}/${index}${step}`,
          at: 'value',
          message,
          hint: 'keep one of them',
        })
      }
      seen.add(value)
    })
  }
  const whole = (entry: string) => entry
  const id = (entry: { id: string }) => entry.id
  check(manifest.scopes, '/scopes', whole)
  check(manifest.categories, '/categories', whole)
  check(manifest.blocks, '/blocks', id, '/id')
  check(manifest.contentSources, '/contentSources', id, '/id')
  for (const [level, declared] of Object.entries(manifest.configurations ?? {})) {
    check(declared?.required, `/configurations/${level}/required`, whole)
    for (const [name, property] of Object.entries<Property | undefined>(declared?.properties ?? {})) {
      if (property?.type !== 'string') continue
      check(property.enum, `/configurations/${level}/properties/${name}/enum`, whole)
    }
  }
  return findings
}

/** Spec 2.3: these scopes inject scripts and set cookies in a published site. */
const internalScopes: ReadonlySet<Scope> = new Set(['site:script:inject', 'site:script:cookies'])

/** Only the operator's own integrations may have internal scopes. */
function checkInternalScopes(manifest: Partial<Manifest>, options: ReadOptions): Finding[] {
  if (manifest.organization === undefined || isOperatorsOwn(manifest, options)) return []
  const { operatorOrganization, isWithoutServer } = options
  const findings: Finding[] = []
  manifest.scopes?.forEach((scope, index) => {
    if (!internalScopes.has(scope)) return
    findings.push({
      pointer: `/scopes/${index}`,
      at: 'value',
      severity: isWithoutServer ? 'warning' : 'error',
      message: `the scope "${scope}" is internal: only integrations of the organization "${operatorOrganization}" may have it`,
      hint: `this manifest names the organization "${manifest.organization}"; remove the scope, or name "${operatorOrganization}" there if you trust its code like your own${toOtherNames(options)}`,
    })
  })
  return findings
}

/** An installer would agree to a scope for nothing. */
function checkScopesWithoutEffect({ scopes }: Partial<Manifest>): Finding[] {
  return (scopes ?? []).flatMap((scope, index): Finding[] => {
    if (!scopesWithoutEffect.has(scope)) return []
    const message = `the scope ${quoteValue(scope)} has no effect yet: it opens nothing`
    const hint = 'remove it: organizations would agree to it for nothing'
    return [{ pointer: `/scopes/${index}`, at: 'value', severity: 'warning', message, hint }]
  })
}

function checkEnvs(manifest: Partial<Manifest>): Finding[] {
  if (manifest.envs === undefined) return []
  const message = '"envs" is understood, but nothing of it is applied yet'
  return [{ pointer: '/envs', at: 'key', severity: 'warning', message }]
}

function checkConfigurations(manifest: Partial<Manifest>): Finding[] {
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

/** `required` and `requiredAny` name declared settings. */
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
    // The type of an invalid property is unknown.
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
  if (property.type === 'string' && property.secret === true) {
    for (const field of ['default', 'enum', 'completion_url'] as const) {
      if (property[field] === undefined) continue
      const message = `"${field}" cannot stand beside "secret": everyone may see it`
      findings.push({ pointer: `${pointer}/${field}`, at: 'key', message, hint: 'keep one of them' })
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

/** The host calls `<public endpoint><path>`: dot segments would lead to another installation's endpoint. */
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

/**
 * One server resolves what another leaves as it is: it may decode an encoded separator or decode twice, take a backslash
 * for a slash, or drop a segment's parameters. Each of them could take `/x/one/..%2ftwo` for `/x/two`, and keep the answer
 * of one as that of the other. Clients resolve dots before they send a path, so only an attack has them.
 */
const separator = String.raw`(?:[/\\]|%(?:25)*(?:2f|5c))`
const dot = String.raw`(?:\.|%(?:25)*2e)`
const parameters = '(?:;|%(?:25)*3b)'
const dotSegment = new RegExp(`(?:^|${separator})${dot}{1,2}(?:$|${separator}|${parameters})`, 'i')

/** True when the path of a URL has `.` or `..` between separators, in any spelling. */
export const hasDotSegments = (path: string): boolean => dotSegment.test(path)
