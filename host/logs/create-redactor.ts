/** Shorter secrets are not redacted: they occur in ordinary words and numbers, and would garble all lines. */
export const shortestSecret = 8
/** Each line of a long secret, such as a private key in PEM, is a secret too. */
const shortestLine = 16

/**
 * Writes `[secret NAME]` where a text holds a secret.
 *
 * @param isCut the text may end in the middle of a secret. Default: true for a text as long as those that the sandbox cuts
 */
export type Redact = (text: string, isCut?: boolean) => string

type Needle = { text: string; start: string; name: string }

/** A text of this length may have been cut in the middle of a secret (at 8 kB, in the sandbox). */
const maybeCut = 7_900
const width = shortestSecret
const base = 16_777_619
const baseToWidth = Array.from({ length: width - 1 }).reduce<number>((power) => Math.imul(power, base), 1)
const filterBits = 8_192
/** A script can choose its secrets. These limits bound the work for each character of its lines. */
const comparedAtOnce = 64
const maxAlike = 16
/** Positions in one line where a hash matches without a secret. No honest line has so many. */
const maxAlarms = 200

/**
 * One pass over the text for any number of secrets: a rolling hash of eight characters (Karp and Rabin) finds where a secret
 * may begin.
 *
 * @param secrets the most important ones first: of secrets with the same first characters, only some are redacted
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
  return (text, isCut = text.length >= maybeCut) =>
    needles.size === 0 || text.length < width ? text : scan(text, isCut)

  function scan(text: string, isCut: boolean): string {
    let redacted = ''
    let copied = 0
    let at = 0
    let hash = hashAt(text, 0)
    let alarms = 0
    while (at + width <= text.length) {
      const isAlarm = filter[hash & (filterBits - 1)] === 1 && needles.has(hash)
      const found = isAlarm ? find(text, at, hash, isCut) : undefined
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

  /** The beginning of a long secret is enough in a cut text. */
  function find(
    text: string,
    at: number,
    hash: number,
    isCut: boolean,
  ): { name: string; length: number } | undefined {
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

/** The forms of a secret in a text: plain, and in JSON, URLs, base64 and hex. */
function formsOf(secret: string): string[] {
  const forms = new Set<string>([secret, JSON.stringify(secret).slice(1, -1)])
  // In the host of a URL.
  if (/^[\w.-]+$/.test(secret)) forms.add(secret.toLowerCase())
  const inUrl = encodeURIComponent(secret.toWellFormed())
  forms.add(inUrl)
  forms.add(inUrl.replaceAll('%20', '+'))
  for (const text of inBase64(Buffer.from(secret))) {
    forms.add(text)
    forms.add(text.replaceAll('+', '-').replaceAll('/', '_'))
  }
  forms.add(Buffer.from(secret).toString('hex'))
  for (const line of secret.includes('\n') ? secret.split('\n') : []) {
    // The first and last line of a PEM are no secrets.
    if (line.trim().length >= shortestLine && !line.startsWith('-----')) forms.add(line.trim())
  }
  return [...forms].filter((form) => form.length >= shortestSecret)
}

/**
 * The base64 of the bytes inside of a longer text, such as `user:secret`: three texts, by the number of bytes before the secret.
 * Characters that depend on the bytes before and after are left out.
 */
function inBase64(bytes: Buffer): string[] {
  return [0, 1, 2].map((before) => {
    const length = before + bytes.length
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    return text.slice(before === 0 ? 0 : before + 1, Math.floor((length * 8) / 6))
  })
}
