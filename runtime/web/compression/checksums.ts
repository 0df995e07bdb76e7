const crcTable = new Uint32Array(256)
for (let byte = 0; byte < 256; byte++) {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  crcTable[byte] = value
}

/** CRC-32 (RFC 1952, 8) of `bytes`, going on from that of what came before them. */
export const crc32 = (bytes: Uint8Array, before = 0): number => {
  let crc = ~before
  for (let index = 0; index < bytes.length; index++) {
    crc = (crcTable[(crc ^ (bytes[index] ?? 0)) & 255] ?? 0) ^ (crc >>> 8)
  }
  return ~crc >>> 0
}

/** Sums of so many bytes stay below 2 to the 32nd, so that the remainder is taken once for all of them. */
const adlerRun = 2654

/** Adler-32 (RFC 1950, 9) of `bytes`, going on from that of what came before them. */
export const adler32 = (bytes: Uint8Array, before = 1): number => {
  let low = before & 0xffff
  let high = before >>> 16
  for (let start = 0; start < bytes.length; start += adlerRun) {
    const end = Math.min(start + adlerRun, bytes.length)
    for (let index = start; index < end; index++) {
      low += bytes[index] ?? 0
      high += low
    }
    low %= 65_521
    high %= 65_521
  }
  return ((high << 16) | low) >>> 0
}
