import { isUtf8 } from 'node:buffer'
import type ivm from 'isolated-vm'

/** A body as a guest gets it: text where it can be, since the guest then need not decode it. */
export type GuestBody = string | ivm.Copy<ArrayBuffer> | undefined

/** Longer ones go as bytes: most are not read as text, or piece by piece. */
const textBytes = 64 * 1024

export type GuestBodies = {
  fromFrame: (body: Buffer) => GuestBody
  /** Bytes, whatever they hold. */
  fromBytes: (bytes: Uint8Array) => GuestBody
}

export function createGuestBodies(engine: typeof ivm): GuestBodies {
  const fromBytes = (bytes: Uint8Array): GuestBody =>
    new engine.ExternalCopy(exactBuffer(bytes), { transferOut: true }).copyInto({
      release: true,
      transferIn: true,
    })
  return {
    fromFrame(body) {
      if (body.byteLength === 0) return undefined
      return body.byteLength <= textBytes && isUtf8(body) ? body.toString() : fromBytes(body)
    },
    fromBytes,
  }
}

/** A buffer that holds these bytes and no others: one of Node's is shared with what is nobody's business. */
export const exactBuffer = (bytes: Uint8Array): ArrayBuffer =>
  bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
