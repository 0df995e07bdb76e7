import { isUtf8 } from 'node:buffer'
import type ivm from 'isolated-vm'

/** A body for a guest: text where possible, so that the guest need not decode it. */
export type GuestBody = string | ivm.Copy<ArrayBuffer> | undefined

/** Longer bodies go as bytes: scripts seldom read them as one text. */
const textBytes = 64 * 1024

export type GuestBodies = {
  fromFrame: (body: Buffer) => GuestBody
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

/** A copy with these bytes alone: Node's pooled buffers hold data of other sandboxes. */
export const exactBuffer = (bytes: Uint8Array): ArrayBuffer =>
  bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
