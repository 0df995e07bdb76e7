/** A PNG of the given size: its signature and its first chunk, which is what tells the size. */
export function createPng(width: number, height: number): Uint8Array {
  const png = Buffer.alloc(45)
  png.write('\x89PNG\r\n\x1a\n', 'latin1')
  png.writeUInt32BE(13, 8)
  png.write('IHDR', 12)
  png.writeUInt32BE(width, 16)
  png.writeUInt32BE(height, 20)
  return png
}
