import { constants, deflateRawSync } from 'node:zlib'

/** More than the prelude ever sends: about three milliseconds. */
const mostBytes = 131_072

/**
 * Compresses what follows the first `window` bytes, which are what came before it. Nothing is kept between two pieces: a
 * stream that a script forgets costs this process nothing.
 */
export function deflatePiece(bytes: unknown, window: number, isLast: boolean): ArrayBuffer {
  const isPiece = bytes instanceof ArrayBuffer && bytes.byteLength <= mostBytes && window <= bytes.byteLength
  if (!isPiece || !(window >= 0)) return new ArrayBuffer(0)
  const out = deflateRawSync(new Uint8Array(bytes, window), {
    finishFlush: isLast ? constants.Z_FINISH : constants.Z_SYNC_FLUSH,
    ...(window > 0 && { dictionary: new Uint8Array(bytes, 0, window) }),
  })
  return out.buffer.slice(out.byteOffset, out.byteOffset + out.byteLength) as ArrayBuffer
}
