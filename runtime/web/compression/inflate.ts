import { Inflate } from 'fflate'
import type { Codec } from './codec-streams.ts'
import { type Container, containers, corrupt, type Format } from './container.ts'

/** Deflated data grows a thousandfold at most: what becomes of so much stays near a megabyte. */
const sliceBytes = 1024

/**
 * What fflate knows of where it is, as its own Gunzip reads it: `f` and `l` of its state tell the end of the data, `p`
 * the bytes that it has not used, of whose first it may have used some bits.
 */
type Insides = { s: { f?: number; l?: unknown; p?: number }; p: Uint8Array<ArrayBuffer> }

/** Decompression standard: checksums and lengths are checked, and nothing may follow. */
export const createInflate = (format: Format): Codec => {
  const container: Container = containers[format]
  let pieces: Uint8Array<ArrayBuffer>[] = []
  const inflate = new Inflate((bytes) => {
    if (bytes.length > 0) pieces.push(bytes as Uint8Array<ArrayBuffer>)
  })
  const insides = inflate as unknown as Insides
  let part: 'header' | 'data' | 'trailer' = 'header'
  let kept = new Uint8Array(0)
  let sum: number | undefined
  let length = 0

  const keep = (bytes: Uint8Array): void => {
    const joined = new Uint8Array(kept.length + bytes.length)
    joined.set(kept)
    joined.set(bytes, kept.length)
    kept = joined
  }

  const data = (bytes: Uint8Array): void => {
    try {
      inflate.push(bytes)
    } catch {
      throw corrupt('block')
    }
    for (const piece of pieces) {
      sum = container.sum(piece, sum)
      length += piece.length
    }
    const { f, l, p = 0 } = insides.s
    if (!f || l) return
    part = 'trailer'
    trailer(insides.p.subarray(p > 0 ? 1 : 0))
  }

  const trailer = (bytes: Uint8Array): void => {
    keep(bytes)
    if (kept.length > container.trailerLength) throw new TypeError('Something follows the compressed data')
    if (kept.length < container.trailerLength) return
    container.assertTrailer(new DataView(kept.buffer, kept.byteOffset), sum, length)
  }

  return {
    sliceBytes,
    push(bytes) {
      pieces = []
      if (part === 'trailer') trailer(bytes)
      else if (part === 'data') data(bytes)
      else {
        keep(bytes)
        const end = container.headerLength(kept)
        if (end !== undefined) {
          part = 'data'
          const rest = kept.subarray(end)
          kept = new Uint8Array(0)
          data(rest)
        }
      }
      return pieces
    },
    end() {
      if (part === 'trailer' && kept.length === container.trailerLength) return []
      throw new TypeError('The compressed data ends too early')
    },
  }
}
