import { DOMException } from '../events/dom-exception.ts'
import { NativeTypeError, numberText, quote } from '../primordials.ts'
import { type AlgorithmUse, algorithms, canonicalName, type MemberKind } from './algorithm-table.ts'
import { type CallWriter, keyText } from './call-writer.ts'
import { toBytes, toInteger, typedArrayName } from './conversions.ts'
import { isCryptoKey } from './crypto-key.ts'

/** Web IDL's union of an object and a text, which any other value becomes. */
export const toIdentifier = (value: unknown): object | string =>
  (typeof value === 'object' && value !== null) || typeof value === 'function' ? value : `${value as string}`

/**
 * Web Crypto, 18.4.4: an algorithm as its caller wrote it, as JSON for the sandbox process. Each getter of the script
 * runs once. Throws a TypeError for a member that is missing or wrong, and a NotSupportedError for an algorithm that
 * is not registered for this use.
 */
export const normalizeAlgorithm = (use: AlgorithmUse, given: object | string, call: CallWriter): string => {
  const source = typeof given === 'string' ? undefined : (given as Record<string, unknown>)
  const named = source === undefined ? given : source.name
  if (named === undefined) throw new NativeTypeError('An algorithm must have a "name"')
  const name = canonicalName(`${named as string}`)
  const dictionary = name === undefined ? undefined : algorithms[name]?.[use]
  if (dictionary === undefined) throw notSupported(`${named as string}`, use)
  let text = `{"name":"${name}"`
  for (let i = 0; i < dictionary.length; i++) {
    const [member, kind] = dictionary[i] ?? nothing
    const value = source?.[member]
    if (value !== undefined) text += `,"${member}":${converters[kind](value, `"${member}" of ${name}`, call)}`
    else if (kind !== 'bytes?' && kind !== 'octet?' && kind !== 'long?')
      throw new NativeTypeError(`${name} needs "${member}"`)
  }
  return `${text}}`
}

const nothing = ['', 'text'] as const

type Converter = (value: unknown, what: string, call: CallWriter) => string

const bytesText: Converter = (value, what, call) => call.addBytes(toBytes(value, what))
const octetText: Converter = (value, what) => numberText(toInteger(value, 0xff, what))
const longText: Converter = (value, what) => numberText(toInteger(value, 0xffff_ffff, what))

const converters: Record<MemberKind, Converter> = {
  bytes: bytesText,
  'bytes?': bytesText,
  exponent: (value, what, call) => {
    if (typedArrayName(value) === 'Uint8Array') return bytesText(value, what, call)
    throw new NativeTypeError(`${what} must be a Uint8Array`)
  },
  octet: octetText,
  'octet?': octetText,
  short: (value, what) => numberText(toInteger(value, 0xffff, what)),
  long: longText,
  'long?': longText,
  text: (value) => quote(`${value as string}`),
  hash: (value, _what, call) => normalizeAlgorithm('digest', toIdentifier(value), call),
  key: (value, what) => {
    if (isCryptoKey(value)) return keyText(value)
    throw new NativeTypeError(`${what} must be a CryptoKey`)
  },
}

const notSupported = (name: string, use: AlgorithmUse): DOMException =>
  new DOMException(`A sandbox has no algorithm "${name}" for ${use}`, 'NotSupportedError')
