import { Deflate, Gzip, Zlib } from 'fflate'
import type { Codec } from './codec-streams.ts'
import type { Format } from './container.ts'

const sliceBytes = 65_536

const makers = { deflate: Zlib, 'deflate-raw': Deflate, gzip: Gzip }

export const createDeflate = (format: Format): Codec => {
  let pieces: Uint8Array<ArrayBuffer>[] = []
  const deflate = new makers[format]((bytes) => {
    if (bytes.length > 0) pieces.push(bytes as Uint8Array<ArrayBuffer>)
  })
  const push = (bytes: Uint8Array, isLast: boolean): Uint8Array<ArrayBuffer>[] => {
    pieces = []
    deflate.push(bytes, isLast)
    return pieces
  }
  return { sliceBytes, push: (bytes) => push(bytes, false), end: () => push(new Uint8Array(0), true) }
}
