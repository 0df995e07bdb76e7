import { ask } from '../ask.ts'
import { adler32, crc32 } from './checksums.ts'
import type { Codec } from './codec-streams.ts'
import type { Format } from './container.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** How far back deflated data refers: each piece is compressed with so much of what came before it. */
const windowBytes = 32_768
/** Bytes that are compressed at a time: each piece costs five bytes, and the process about two milliseconds. */
const pieceBytes = 65_536

/** The header and trailer of a format. */
const frames: Record<
  Format,
  { header: number[]; trailer: (sum: number, length: number) => Bytes; sum: typeof crc32 }
> = {
  'deflate-raw': { header: [], trailer: () => new Uint8Array(0), sum: () => 0 },
  deflate: {
    header: [0x78, 0x9c],
    trailer: (sum) => words(false, sum),
    sum: (bytes, before = 1) => adler32(bytes, before),
  },
  // No name, no time, and an unknown system: nothing of where it was made.
  gzip: {
    header: [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255],
    trailer: (sum, length) => words(true, sum, length),
    sum: crc32,
  },
}

/**
 * The process compresses each piece separately, and keeps no state for a sandbox. A piece ends at a byte, and its
 * dictionary is the end of the last piece: together the pieces are one stream.
 */
export const createDeflate = (format: Format): Codec => {
  const { header, trailer, sum } = frames[format]
  const held = new Uint8Array(windowBytes + pieceBytes)
  let windowLength = 0
  let length = 0
  let total = 0
  let check: number | undefined
  let begun = false

  const deflate = (op: 'deflate' | 'deflate-last'): Bytes => {
    const end = windowLength + length
    const out = new Uint8Array(ask(op, held.slice(0, end).buffer, windowLength))
    const kept = Math.min(end, windowBytes)
    held.copyWithin(0, end - kept, end)
    windowLength = kept
    length = 0
    return out
  }

  const begin = (): Bytes[] => {
    if (begun || header.length === 0) return []
    begun = true
    return [new Uint8Array(header)]
  }

  return {
    sliceBytes: pieceBytes,
    push(bytes) {
      const out = begin()
      check = sum(bytes, check)
      total += bytes.length
      const now = Math.min(pieceBytes - length, bytes.length)
      held.set(bytes.subarray(0, now), windowLength + length)
      length += now
      if (length < pieceBytes) return out
      out.push(deflate('deflate'))
      held.set(bytes.subarray(now), windowLength)
      length = bytes.length - now
      return out
    },
    end() {
      const out = begin()
      out.push(deflate('deflate-last'))
      const last = trailer(check ?? sum(new Uint8Array(0)), total)
      if (last.length > 0) out.push(last)
      return out
    },
  }
}

const words = (littleEndian: boolean, ...values: number[]): Bytes => {
  const view = new DataView(new ArrayBuffer(values.length * 4))
  for (const [index, value] of values.entries()) view.setUint32(index * 4, value, littleEndian)
  return new Uint8Array(view.buffer)
}
