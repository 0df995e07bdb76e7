import { decodeUtf8WithoutBom, encodeUtf8 } from '../encoding/utf8.ts'

export type Pair = [name: string, value: string]

/** URL standard, 5.1: the pairs of an `application/x-www-form-urlencoded` text. */
export const parseUrlencoded = (text: string): Pair[] => {
  const pairs: Pair[] = []
  for (const part of text.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = equals === -1 ? part : part.slice(0, equals)
    pairs.push([decode(name), equals === -1 ? '' : decode(part.slice(equals + 1))])
  }
  return pairs
}

/** URL standard, 5.2. */
export const serializeUrlencoded = (pairs: Pair[]): string => {
  let text = ''
  for (const [name, value] of pairs) text += `${text === '' ? '' : '&'}${encode(name)}=${encode(value)}`
  return text
}

const escapes: Record<string, string> = {
  '!': '%21',
  "'": '%27',
  '(': '%28',
  ')': '%29',
  '~': '%7E',
  '%20': '+',
}

/** Characters that `encodeURIComponent` keeps and that the percent-encode set of forms encodes. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()~]|%20/g, (found) => escapes[found] ?? '')

const decode = (text: string): string => {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    // It holds a stray "%", or bytes that are no UTF-8: those are replaced, not refused.
    return decodeUtf8WithoutBom(percentDecode(encodeUtf8(spaced)))
  }
}

const percentDecode = (bytes: Uint8Array): Uint8Array => {
  const out = new Uint8Array(bytes.length)
  let length = 0
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0
    const high = byte === 0x25 ? hexDigit(bytes[index + 1]) : -1
    const low = high === -1 ? -1 : hexDigit(bytes[index + 2])
    out[length++] = low === -1 ? byte : high * 16 + low
    if (low !== -1) index += 2
  }
  return out.subarray(0, length)
}

const hexDigit = (byte: number | undefined): number => {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
