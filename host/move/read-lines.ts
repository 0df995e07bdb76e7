import type { FileHandle } from 'node:fs/promises'
import { AnnexError } from '../errors/annex-error.ts'

/** A delivery with its attempts is the longest. */
const maxLineBytes = 16 * 1024 * 1024

const chunkBytes = 256 * 1024
const newline = 0x0a

/**
 * The lines of a file, without their ends, one at a time: of a file of any length no more is in memory than its longest.
 *
 * @throws AnnexError `export_invalid` for a line over 16 MiB, and for a last one without its end
 */
export async function* readLines(file: FileHandle): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = []
  let bytes = 0
  for await (const chunk of readChunks(file)) {
    let from = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      yield Buffer.concat([...pieces, chunk.subarray(from, end)])
      pieces = []
      bytes = 0
      from = end + 1
    }
    bytes += chunk.length - from
    if (bytes > maxLineBytes) {
      throw new AnnexError('export_invalid', `The file has a line of more than ${maxLineBytes} bytes.`)
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from))
  }
  if (bytes > 0) throw new AnnexError('export_invalid', 'The file is cut off in the middle of a line.')
}

/** Not the handle's own stream: a handle whose stream was left before its end gives no second one. */
async function* readChunks(file: FileHandle): AsyncGenerator<Buffer> {
  let position = 0
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
