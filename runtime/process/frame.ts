/**
 * One message on the socketpair between host and sandbox process:
 *
 *     u32 length of all that follows · u8 type · u8 flags · u16 0 · u32 sandbox · u32 dispatch · u32 number · u32 extra
 *     · u32 text length · text · body
 *
 * Both ends read the numbers. They pass on the text (UTF-8) and the bytes of the body unread.
 */
export type Frame = FrameHead & { text: string; body: Buffer }

export type FrameHead = {
  type: number
  flags: number
  sandbox: number
  dispatch: number
  number: number
  extra: number
}

/** Missing numbers are 0. */
export type FrameToWrite = Partial<FrameHead> & {
  type: number
  text?: string
  body?: string | Uint8Array | undefined
}

export type FrameWriter = {
  /** A text body is written as UTF-8. The caller does not change the bytes of a body afterwards. */
  write: (frame: FrameToWrite) => void
  /** Sends the written frames, small ones in one piece: a system call for each would take most of the time. */
  flush: () => void
}

const prefixBytes = 28
const blockBytes = 64 * 1024
const emptyBody = Buffer.alloc(0)

/**
 * So many frames leave without `flush`: the other end works on them while this one makes more. With a whole batch in one piece,
 * one of two processors would always be idle.
 */
const framesTogether = 24

export function createFrameWriter(send: (bytes: Buffer) => void): FrameWriter {
  let block = Buffer.allocUnsafeSlow(blockBytes)
  let used = 0
  let frames = 0

  function write(frame: FrameToWrite): void {
    const { text = '', body = emptyBody } = frame
    const bodyBytes = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
    // UTF-8 has at most three bytes for each unit of UTF-16: the text need not be measured first.
    if (prefixBytes + text.length * 3 + bodyBytes > blockBytes - used) {
      flush()
      if (prefixBytes + text.length * 3 + bodyBytes > blockBytes)
        return writeLarge(frame, text, body, bodyBytes)
    }
    const textBytes = block.write(text, used + prefixBytes)
    writePrefix(block, used, frame, textBytes, bodyBytes)
    const at = used + prefixBytes + textBytes
    if (typeof body === 'string') block.write(body, at)
    else if (bodyBytes > 0) block.set(body, at)
    used = at + bodyBytes
    frames += 1
    if (frames >= framesTogether) flush()
  }

  function writeLarge(frame: FrameToWrite, text: string, body: string | Uint8Array, bodyBytes: number): void {
    const textBytes = Buffer.byteLength(text)
    const head = Buffer.allocUnsafe(prefixBytes + textBytes)
    writePrefix(head, 0, frame, textBytes, bodyBytes)
    head.write(text, prefixBytes)
    send(head)
    if (typeof body === 'string') send(Buffer.from(body))
    else if (bodyBytes > 0) send(Buffer.from(body.buffer, body.byteOffset, bodyBytes))
  }

  function flush(): void {
    frames = 0
    if (used === 0) return
    const isMuch = used > blockBytes / 2
    const bytes = isMuch ? block.subarray(0, used) : Buffer.from(block.subarray(0, used))
    if (isMuch) block = Buffer.allocUnsafeSlow(blockBytes)
    used = 0
    send(bytes)
  }

  return { write, flush }
}

function writePrefix(
  to: Buffer,
  at: number,
  frame: FrameToWrite,
  textBytes: number,
  bodyBytes: number,
): void {
  to.writeUInt32LE(prefixBytes - 4 + textBytes + bodyBytes, at)
  to.writeUInt32LE(frame.type | ((frame.flags ?? 0) << 8), at + 4)
  to.writeUInt32LE(frame.sandbox ?? 0, at + 8)
  to.writeUInt32LE(frame.dispatch ?? 0, at + 12)
  to.writeUInt32LE(frame.number ?? 0, at + 16)
  to.writeUInt32LE(frame.extra ?? 0, at + 20)
  to.writeUInt32LE(textBytes, at + 24)
}

/**
 * Reads the frames in the chunks of a stream. A length over `maxBytes`, and lengths that contradict each other, throw: the other
 * end is broken or hostile, and no later byte can be trusted.
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
    // Joined when a frame is complete: a large body is copied once, and not for each chunk.
    if (waitingBytes < needed) return
    const bytes = waiting.length === 1 ? chunk : Buffer.concat(waiting)
    let at = 0
    needed = 4
    while (bytes.length - at >= 4) {
      const length = bytes.readUInt32LE(at)
      if (length < prefixBytes - 4 || length > maxBytes)
        throw new Error(`frame of ${length} bytes; the limit is ${maxBytes}`)
      needed = 4 + length
      if (bytes.length - at < needed) break
      onFrame(parseFrame(bytes, at, at + needed))
      at += needed
      needed = 4
    }
    waiting = at === bytes.length ? [] : [bytes.subarray(at)]
    waitingBytes = bytes.length - at
  }
}

function parseFrame(bytes: Buffer, at: number, end: number): Frame {
  const textStart = at + prefixBytes
  const bodyStart = textStart + bytes.readUInt32LE(at + 24)
  if (bodyStart > end) throw new Error('frame whose text is longer than the frame')
  return {
    type: bytes.readUInt8(at + 4),
    flags: bytes.readUInt8(at + 5),
    sandbox: bytes.readUInt32LE(at + 8),
    dispatch: bytes.readUInt32LE(at + 12),
    number: bytes.readUInt32LE(at + 16),
    extra: bytes.readUInt32LE(at + 20),
    text: bodyStart === textStart ? '' : bytes.toString('utf8', textStart, bodyStart),
    body: bodyStart === end ? emptyBody : bytes.subarray(bodyStart, end),
  }
}
