import type { Duplex } from 'node:stream'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import type { DispatchResult, PlainError } from '../../../runtime/bridge.ts'
import {
  createFrameReader,
  createFrameWriter,
  type Frame,
  type FrameToWrite,
} from '../../../runtime/process/frame.ts'
import type { BrokenReason } from '../../../runtime/process/messages.ts'
import { createCheck } from '../../../schemas/create-check.ts'
import { messageOf } from '../../errors.ts'
import schema from './frames.schema.json' with { type: 'json' }

/** The head of an answer, or a piece of a body. */
export const pieceBytes = 10 * 1024 * 1024
const frameOverheadBytes = 4 * 1024 * 1024
/** A process that does not read gets no further answers: they would fill the host's memory. */
const maxUnreadBytes = 16 * 1024 * 1024

/**
 * The host's end of a socketpair. Frames that are sent in one turn of the event loop are written together.
 *
 * @param given.onGarbage is called for bytes that no Annex process writes; no frame is read after it
 */
export function createConnection(
  stream: Duplex,
  given: { handleFrame: (frame: Frame) => void; onGarbage: (message: string) => void },
): { send: (frame: FrameToWrite) => void } {
  const out = createFrameWriter((bytes) => {
    if (!stream.destroyed) stream.write(bytes)
  })
  const read = createFrameReader(pieceBytes + frameOverheadBytes, given.handleFrame)
  let isFlushing = false
  stream.on('data', (chunk: Buffer) => {
    try {
      read(chunk)
    } catch (error) {
      stream.destroy()
      given.onGarbage(messageOf(error))
    }
  })
  return {
    send(frame) {
      out.write(frame)
      if (isFlushing) return
      isFlushing = true
      // After the promises of this callback and before the next read of sockets: the other end gets its work at once.
      process.nextTick(flush)
    },
  }

  function flush(): void {
    isFlushing = false
    out.flush()
    // Frames that are not read cause no further answers. A process that never reads answers no ping, and is ended.
    if (stream.writableLength > maxUnreadBytes && !stream.isPaused()) {
      stream.pause()
      stream.once('drain', () => stream.resume())
    }
  }
}

const isResult = createFrameCheck<DispatchResult>('result')
const isError = createFrameCheck<PlainError>('error')

/** @returns undefined when the text is no answer as the prelude posts it */
export function parseResult(text: string): DispatchResult | undefined {
  return parse(text, isResult())
}

/** @returns undefined when the text is no error as a sandbox process writes it */
export function parseError(text: string): PlainError | undefined {
  return parse(text, isError())
}

/** Why a sandbox broke. @throws Error when the text is not as a sandbox process writes it */
export function parseBroken(text: string): { reason: BrokenReason; message: string } {
  const match = /^(cpu_limit|starved|memory_limit|crashed)\n([\s\S]{0,500})$/.exec(text)
  if (match === null) throw new Error('a "broken" frame gives no known reason')
  return { reason: match[1] as BrokenReason, message: match[2] ?? '' }
}

/** Resources of one dispatch, as its process measured them. */
export type Usage = { cpuMs: number; heapBytes: number }

/** A frame carries µs and KiB. */
export const toUsage = ({ number, extra }: Pick<Frame, 'number' | 'extra'>): Usage => ({
  cpuMs: number / 1000,
  heapBytes: extra * 1024,
})

/** A dispatch, µs and KiB, 32 bits each. */
const usageBytes = 12

/** The usage of the dispatches in a broken sandbox, by their ids. @throws Error when the body is no such list */
export function parseUsages(body: Buffer): Map<number, Usage> {
  if (body.length % usageBytes !== 0) throw new Error('a "broken" frame holds no list of usages')
  const usages = new Map<number, Usage>()
  for (let at = 0; at < body.length; at += usageBytes) {
    const usage = toUsage({ number: body.readUInt32LE(at + 4), extra: body.readUInt32LE(at + 8) })
    usages.set(body.readUInt32LE(at), usage)
  }
  return usages
}

function parse<T>(text: string, check: ValidateFunction<T>): T | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return check(value) ? value : undefined
  } catch {
    return undefined
  }
}

function createFrameCheck<T>(name: string): () => ValidateFunction<T> {
  return createCheck<T>(
    { $ref: `#/$defs/${name}`, $defs: schema.$defs },
    { strict: false, discriminator: true },
  )
}
