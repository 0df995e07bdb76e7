import type { Manifest } from '../../../schemas/generated/manifest.ts'
import { hintForName, quoteValue } from '../message-text.ts'
import type { Finding } from '../problem.ts'

/** Directives of CSP Level 3 by name, each with its values as one text. */
export type Directives = Record<string, string>

/** Directives that a manifest may set. The host decides on `report-uri` and `sandbox`. */
const knownDirectives = [
  'default-src script-src script-src-elem script-src-attr style-src style-src-elem style-src-attr img-src font-src',
  'connect-src media-src object-src frame-src child-src worker-src manifest-src base-uri form-action',
  'frame-ancestors upgrade-insecure-requests',
].flatMap((names) => names.split(' '))

/**
 * A policy as a map. A directive ends at ";", unless a source follows, or at a line break before the name of another
 * directive; in a map's values too. The first of two equal directives counts, as in browsers. Keys of a map come before its
 * values.
 */
export function parseContentSecurityPolicy(policy: string | Record<string, string>): Directives {
  const nextDirective = new RegExp(`\\n(?=\\s*(?:${knownDirectives.join('|')})(?:\\s|$))`)
  const directives: Directives = {}
  for (const part of partsOf(policy).flatMap((text) => text.split(nextDirective))) {
    const [name, ...values] = toWords(part)
    if (name === undefined || name === '' || Object.hasOwn(directives, name.toLowerCase())) continue
    Object.defineProperty(directives, name.toLowerCase(), { value: values.join(' '), enumerable: true })
  }
  return directives
}

function partsOf(policy: string | Record<string, string>): string[] {
  if (typeof policy === 'string') return splitAtSemicolons(policy)
  const entries = Object.entries(policy).map(([name, values]) => splitAtSemicolons(`${name} ${values}`))
  return [...entries.flatMap((parts) => parts.slice(0, 1)), ...entries.flatMap((parts) => parts.slice(1))]
}

/** Many manifests end each source by ";". What begins with a source belongs to the directive before. */
function splitAtSemicolons(text: string): string[] {
  const parts: string[] = []
  for (const part of text.split(';')) {
    const [first = ''] = toWords(part)
    if (parts.length > 0 && isSource(first)) parts.push(`${parts.pop()} ${part}`)
    else parts.push(part)
  }
  return parts
}

/** All directives are known. Their values cannot end the header or begin another policy. */
export function checkContentSecurityPolicy(manifest: Partial<Manifest>): Finding[] {
  const policy = manifest.contentSecurityPolicy
  if (policy === undefined) return []
  const findings: Finding[] = []
  for (const [name, values] of Object.entries(parseContentSecurityPolicy(policy))) {
    const inMap = typeof policy !== 'string'
    const pointer = inMap ? `/contentSecurityPolicy/${name}` : '/contentSecurityPolicy'
    if (!knownDirectives.includes(name)) {
      const message = `unknown directive ${quoteValue(name)}`
      findings.push({
        pointer,
        at: inMap ? 'key' : 'value',
        message,
        hint: hintForName(name, knownDirectives),
      })
    }
    if (!/^[\x20-\x2b\x2d-\x3a\x3c-\x7e]*$/.test(values)) {
      const message = `the values of "${name}" hold a comma or a character that a header cannot hold`
      findings.push({ pointer, at: 'value', message, hint: 'separate values by spaces' })
      continue
    }
    const stray = values.split(' ').find((value) => value !== '' && !isSource(value))
    if (stray !== undefined) {
      const message = `the directive "${name}" holds ${quoteValue(stray)}, which is no source`
      findings.push({
        pointer,
        at: 'value',
        message,
        hint: hintForName(stray, knownDirectives, 'directives'),
      })
    }
  }
  return findings
}

/** A keyword in single quotes, a scheme, or a host (CSP Level 3, section 2.3.1), approximately. */
const isSource = (value: string): boolean =>
  /^'[^']+'$|^[a-z][a-z0-9+.-]*:$|^\*$|^localhost(:|\/|$)|[.:*]/i.test(value)

const toWords = (text: string): string[] => text.trim().split(/\s+/)
