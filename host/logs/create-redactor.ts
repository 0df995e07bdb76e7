import { formsOf, shortestSecret } from './secret-forms.ts'

/** Writes `[secret NAME]` where a text holds a secret. */
export type Redact = (text: string) => string

type Needle = { text: string; start: string; name: string }

/** A text of that length may have been cut (at 8 kB, in the sandbox), and a secret in it with it. */
const maybeCut = 7_900
const width = shortestSecret
const base = 16_777_619
const baseToWidth = Array.from({ length: width - 1 }).reduce<number>((power) => Math.imul(power, base), 1)
const filterBits = 8_192
/** A script can choose what it stores as a token. These keep the work at each place of its lines small. */
const comparedAtOnce = 64
const maxAlike = 16
/** Places of one line where a secret seems to begin and does not. No honest line has so many. */
const maxAlarms = 200

/**
 * One pass over the text, whatever the number of secrets: a rolling hash of eight characters (Karp and Rabin) finds
 * where one may begin.
 *
 * @param secrets the ones that matter most first: of many that begin alike, only the first are looked for
 */
export function createRedactor(secrets: Iterable<[name: string, value: string]>): Redact {
  const needles = new Map<number, Needle[]>()
  const filter = new Uint8Array(filterBits)
  for (const [name, value] of secrets) {
    for (const text of value.length < shortestSecret ? [] : formsOf(value)) {
      const hash = hashAt(text, 0)
      const alike = needles.get(hash) ?? []
      if (alike.some((other) => other.text === text)) continue
      needles.set(hash, [...alike, { text, start: text.slice(0, comparedAtOnce), name }].slice(0, maxAlike))
      filter[hash & (filterBits - 1)] = 1
    }
  }
  return (text) => (needles.size === 0 || text.length < width ? text : scan(text))

  function scan(text: string): string {
    let redacted = ''
    let copied = 0
    let at = 0
    let hash = hashAt(text, 0)
    let alarms = 0
    while (at + width <= text.length) {
      const isAlarm = filter[hash & (filterBits - 1)] === 1 && needles.has(hash)
      const found = isAlarm ? find(text, at, hash) : undefined
      if (found !== undefined) {
        redacted += `${text.slice(copied, at)}[secret ${found.name}]`
        at += found.length
        copied = at
        hash = hashAt(text, at)
      } else {
        if (isAlarm && ++alarms > maxAlarms)
          return `${redacted}${text.slice(copied, at)}[the rest is left out]`
        const rest = hash - Math.imul(text.charCodeAt(at), baseToWidth)
        hash = (Math.imul(rest, base) + text.charCodeAt(at + width)) | 0
        at += 1
      }
    }
    return copied === 0 ? text : redacted + text.slice(copied)
  }

  /** Of a long one its beginning is enough: so much of it goes as is there, and no place is looked at twice. */
  function find(text: string, at: number, hash: number): { name: string; length: number } | undefined {
    const isCut = text.length >= maybeCut
    let longest: { name: string; length: number } | undefined
    for (const needle of needles.get(hash) ?? []) {
      if (!isCut && !text.startsWith(needle.start, at)) continue
      const length = commonLength(text, at, needle.text)
      if (length >= width && length > (longest?.length ?? 0)) longest = { name: needle.name, length }
    }
    return longest
  }
}

function hashAt(text: string, at: number): number {
  let hash = 0
  for (let offset = 0; offset < width; offset += 1) {
    hash = (Math.imul(hash, base) + text.charCodeAt(at + offset)) | 0
  }
  return hash
}

function commonLength(text: string, at: number, needle: string): number {
  let length = 0
  while (length < needle.length && text.charCodeAt(at + length) === needle.charCodeAt(length)) length += 1
  return length
}
