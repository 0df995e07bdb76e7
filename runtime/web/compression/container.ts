import { adler32, crc32 } from './checksums.ts'

export type Format = 'deflate' | 'deflate-raw' | 'gzip'

/** The header and trailer around the deflated data of a format. */
export type Container = {
  /** Bytes of the header at the start of `bytes`; `undefined` while there are too few of them to tell. */
  headerLength: (bytes: Uint8Array) => number | undefined
  trailerLength: number
  /** Goes on with the sum over what is inside. */
  sum: (bytes: Uint8Array, before: number | undefined) => number
  assertTrailer: (trailer: DataView, sum: number | undefined, length: number) => void
}

/** RFC 1950. */
const zlib: Container = {
  headerLength(bytes) {
    if (bytes.length < 2) return undefined
    const [method = 0, flags = 0] = bytes
    if ((method & 15) !== 8 || method >>> 4 > 7 || (method * 256 + flags) % 31 !== 0) throw corrupt('header')
    if (flags & 32) throw corrupt('header: it needs a dictionary')
    return 2
  },
  trailerLength: 4,
  sum: adler32,
  assertTrailer(trailer, sum = 1) {
    if (trailer.getUint32(0) !== sum) throw corrupt('checksum')
  },
}

const hasHeaderSum = 2
const hasExtra = 4
const hasName = 8
const hasComment = 16
const reservedFlags = 0xe0

/** RFC 1952. */
const gzip: Container = {
  headerLength(bytes) {
    const known = [0x1f, 0x8b, 8]
    if (known.some((byte, index) => index < bytes.length && bytes[index] !== byte)) throw corrupt('header')
    if (bytes.length < 10) return undefined
    const flags = bytes[3] ?? 0
    if (flags & reservedFlags) throw corrupt('header')
    let end: number | undefined = 10
    if (flags & hasExtra) end = bytes.length < 12 ? undefined : 12 + (bytes[10] ?? 0) + (bytes[11] ?? 0) * 256
    for (const flag of [hasName, hasComment]) if (flags & flag) end = end && endOfText(bytes, end)
    if (flags & hasHeaderSum && end !== undefined) {
      if (end + 2 <= bytes.length) {
        const sum = crc32(bytes.subarray(0, end)) & 0xffff
        if (sum !== (bytes[end] ?? 0) + (bytes[end + 1] ?? 0) * 256) throw corrupt('header')
      }
      end += 2
    }
    return end !== undefined && end <= bytes.length ? end : undefined
  },
  trailerLength: 8,
  sum: crc32,
  assertTrailer(trailer, sum = 0, length) {
    if (trailer.getUint32(0, true) !== sum) throw corrupt('checksum')
    if (trailer.getUint32(4, true) !== length >>> 0) throw corrupt('length')
  },
}

const raw: Container = {
  headerLength: () => 0,
  trailerLength: 0,
  sum: () => 0,
  assertTrailer: () => undefined,
}

export const containers: Record<Format, Container> = { deflate: zlib, 'deflate-raw': raw, gzip }

const endOfText = (bytes: Uint8Array, start: number): number | undefined => {
  const zero = bytes.indexOf(0, start)
  return zero === -1 ? undefined : zero + 1
}

export const corrupt = (what: string): TypeError => new TypeError(`The compressed data has a wrong ${what}`)
