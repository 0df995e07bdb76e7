import { Bytes, quote, reflectApply } from '../primordials.ts'
import { type CryptoKey, cryptoKeyId } from './crypto-key.ts'

/**
 * The arguments of a call of `crypto.subtle` on their way to the sandbox process: JSON, in which `{ "$bytes": [start,
 * length] }` stands for a part of `bytes`, and `{ "$key": id }` for a key. It is written by hand, as JSON.stringify
 * would ask the script's own `toJSON`.
 */
export type CallWriter = {
  /** Copies the bytes now: a script may go on and change them. Gives the text that stands for them. */
  addBytes: (bytes: Uint8Array) => string
  /** All that was added, in one buffer. */
  bytes: () => ArrayBuffer | undefined
}

export const createCallWriter = (): CallWriter => {
  let all: Uint8Array<ArrayBuffer> | undefined
  return {
    addBytes(bytes) {
      const start = all === undefined ? 0 : all.byteLength
      const joined = new Bytes(start + bytes.byteLength)
      if (all !== undefined) reflectApply(setBytes, joined, [all, 0])
      reflectApply(setBytes, joined, [bytes, start])
      all = joined
      return `{"$bytes":[${start},${bytes.byteLength}]}`
    },
    bytes: () => all?.buffer,
  }
}

const setBytes = Uint8Array.prototype.set

export const keyText = (key: CryptoKey): string => `{"$key":${cryptoKeyId(key)}}`

/** A list of texts. */
export const listText = (items: readonly string[]): string => {
  let text = ''
  for (let i = 0; i < items.length; i++) text += `${i === 0 ? '' : ','}${quote(items[i] ?? '')}`
  return `[${text}]`
}
