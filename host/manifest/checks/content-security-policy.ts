import type { Manifest } from '../../../schemas/generated/manifest.ts'
import { hintForName, quoteValue } from '../message-text.ts'
import { toPointerStep } from '../positions.ts'
import type { Finding } from '../problem.ts'

/** Directives of CSP Level 3 by name, each with its values as one text. */
export type Directives = Record<string, string>

/** Directives that a manifest may set. The host decides on `report-uri` and `sandbox`. */
const knownDirectives = [
  'default-src script-src script-src-elem script-src-attr style-src style-src-elem style-src-attr img-src font-src',
  'connect-src media-src object-src frame-src child-src worker-src manifest-src base-uri form-action',
  'frame-ancestors upgrade-insecure-requests',
].flatMap((names) => names.split(' '))

type Policy = NonNullable<Manifest['contentSecurityPolicy']>

/** A directive as it is written. `key`: the key of a map that holds it. `without`: why it means nothing. */
type Written = { key?: string; name: string; values: string; without?: { reason: string; hint: string } }

/** A policy as a map. A directive that means nothing is left out. */
export function parseContentSecurityPolicy(policy: Policy): Directives {
  const kept = readDirectives(policy).filter(({ without }) => without === undefined)
  return Object.fromEntries(kept.map(({ name, values }) => [name, values]))
}

/** A line begins another directive when its first word is the name of one, or has the form of a name. */
const nextDirective = new RegExp(
  `\\n(?=\\s*(?:${knownDirectives.join('|')}|[a-z]+(?:-[a-z]+)+)(?:\\s|$))`,
  'i',
)

/**
 * A directive ends at ";", unless a source follows, or at a line break before the name of another directive; in a map's
 * values too. Keys of a map come before its values.
 */
function readDirectives(policy: Policy): Written[] {
  const seen = new Set<string>()
  return partsOf(policy).flatMap(({ key, text }) =>
    text.split(nextDirective).flatMap((part): Written[] => {
      const [word = '', ...values] = toWords(part)
      const name = word.toLowerCase()
      if (name === '') return []
      const written = { ...(key !== undefined && { key }), name, values: values.join(' ') }
      const without = whyMeaningless(written, seen)
      seen.add(name)
      return [{ ...written, ...(without && { without }) }]
    }),
  )
}

/** Of two equal directives the first counts, as in browsers. */
function whyMeaningless({ name, values }: Written, seen: ReadonlySet<string>): Written['without'] {
  if (!knownDirectives.includes(name))
    return { reason: `unknown directive ${quoteValue(name)}`, hint: hintForName(name, knownDirectives) }
  if (seen.has(name))
    return {
      reason: `the directive "${name}" is given twice`,
      hint: 'write all of its sources in one directive',
    }
  if (values === '' && name !== 'upgrade-insecure-requests')
    return {
      reason: `the directive "${name}" has no source`,
      hint: "remove it, or write 'none' to allow no source",
    }
  return undefined
}

type Part = { key?: string; text: string }

function partsOf(policy: Policy): Part[] {
  if (typeof policy === 'string') return splitAtSemicolons(policy).map((text) => ({ text }))
  const entries = Object.entries<string | null | undefined>(policy)
    // An invalid key has been left out.
    .filter(([, values]) => values !== undefined)
    .map(([key, values]) => splitAtSemicolons(`${key} ${values ?? ''}`).map((text) => ({ key, text })))
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

/** The values of directives cannot end the header or begin another policy. */
export function checkContentSecurityPolicy(manifest: Partial<Manifest>): Finding[] {
  const policy = manifest.contentSecurityPolicy
  if (policy === undefined) return []
  const findings: Finding[] = []
  for (const { key, name, values, without } of readDirectives(policy)) {
    const pointer = `/contentSecurityPolicy${key === undefined ? '' : toPointerStep(key)}`
    if (without !== undefined) {
      const at = key === undefined ? 'value' : 'key'
      const message = `${without.reason}: it is left out`
      findings.push({ pointer, at, severity: 'warning', message, hint: without.hint })
      continue
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
