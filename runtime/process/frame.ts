import type { Duplex } from 'node:stream'

/**
 * One message on the socketpair between host and sandbox process: a small JSON header that both ends read, a
 * text that is passed on unread (it is for the isolate, or from it), and the bytes of a body.
 *
 *     u32 length of all that follows · u32 header length · u32 text length · header · text · body
 */
export type Frame = { header: unknown; text: string; body: Buffer }

const prefixBytes = 12
const noBody = Buffer.alloc(0)

/**
 * Writes one frame. The body is not copied, so whoever gave it must not change it afterwards. Whoever writes many
 * frames corks the stream around them: a system call each would cost more than all the rest.
 */
export function writeFrame(stream: Duplex, header: object, text = '', body: Uint8Array = noBody): void {
  const headerText = JSON.stringify(header)
  const headerBytes = Buffer.byteLength(headerText)
  const textBytes = Buffer.byteLength(text)
  const head = Buffer.allocUnsafe(prefixBytes + headerBytes + textBytes)
  head.writeUInt32LE(8 + headerBytes + textBytes + body.byteLength, 0)
  head.writeUInt32LE(headerBytes, 4)
  head.writeUInt32LE(textBytes, 8)
  head.write(headerText, prefixBytes)
  head.write(text, prefixBytes + headerBytes)
  stream.write(head)
  if (body.byteLength > 0) stream.write(body)
}

/**
 * Returns a function that takes the chunks of a stream and hands over each whole frame. A length over
 * `maxBytes`, lengths that contradict each other and a header that is no JSON throw: the other end is broken
 * or hostile, and nothing that it sends later can be trusted.
 */
export function createFrameReader(
  maxBytes: number,
  onFrame: (frame: Frame) => void,
): (chunk: Buffer) => void {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let needed = 4
  return (chunk) => {
    waiting.push(chunk)
    waitingBytes += chunk.length
    // Joined only when a frame is complete, so that a large body is copied once and not once a chunk.
    if (waitingBytes < needed) return
    let bytes = waiting.length === 1 ? chunk : Buffer.concat(waiting)
    while (bytes.length >= 4) {
      const length = bytes.readUInt32LE(0)
      if (length < 8 || length > maxBytes)
        throw new Error(`frame of ${length} bytes; the limit is ${maxBytes}`)
      needed = 4 + length
      if (bytes.length < needed) break
      onFrame(parseFrame(bytes.subarray(0, needed)))
      bytes = bytes.subarray(needed)
    }
    if (bytes.length < 4) needed = 4
    waiting = bytes.length === 0 ? [] : [bytes]
    waitingBytes = bytes.length
  }
}

function parseFrame(bytes: Buffer): Frame {
  const textStart = prefixBytes + bytes.readUInt32LE(4)
  const bodyStart = textStart + bytes.readUInt32LE(8)
  if (bodyStart > bytes.length) throw new Error('frame whose parts are longer than the frame')
  return {
    header: JSON.parse(bytes.toString('utf8', prefixBytes, textStart)),
    text: bytes.toString('utf8', textStart, bodyStart),
    body: bodyStart === bytes.length ? noBody : bytes.subarray(bodyStart),
  }
}
