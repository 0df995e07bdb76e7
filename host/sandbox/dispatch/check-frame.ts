import type { ValidateFunction } from 'ajv/dist/2020.js'
import type { DispatchResult, PlainError } from '../../../runtime/bridge.ts'
import type { Frame } from '../../../runtime/process/frame.ts'
import type { BrokenReason } from '../../../runtime/process/messages.ts'
import { createCheck } from '../../../schemas/create-check.ts'
import schema from '../process/frames.schema.json' with { type: 'json' }
import type { Usage } from './live-dispatches.ts'

const isResult = createFrameCheck<DispatchResult>('result')
const isError = createFrameCheck<PlainError>('error')

/** @returns undefined when the text is none that our prelude posts as its answer */
export function parseResult(text: string): DispatchResult | undefined {
  return parse(text, isResult())
}

/** @returns undefined when the text is no error as a sandbox process writes it */
export function parseError(text: string): PlainError | undefined {
  return parse(text, isError())
}

/** Why a sandbox broke. @throws Error when the process says what none of ours says */
export function parseBroken(text: string): { reason: BrokenReason; message: string } {
  const match = /^(cpu_limit|starved|memory_limit|crashed)\n([\s\S]{0,500})$/.exec(text)
  if (match === null) throw new Error('broken: no reason that there is')
  return { reason: match[1] as BrokenReason, message: match[2] ?? '' }
}

/** What the dispatches of a sandbox that broke have used, by their ids. @throws Error when it is not what ours writes */
export function parseUsed(body: Buffer): Map<number, Usage> {
  if (body.length % usedBytes !== 0) throw new Error('broken: no list of what was used')
  const used = new Map<number, Usage>()
  for (let at = 0; at < body.length; at += usedBytes) {
    const usage = toUsage({ number: body.readUInt32LE(at + 4), extra: body.readUInt32LE(at + 8) })
    used.set(body.readUInt32LE(at), usage)
  }
  return used
}

/** A dispatch, µs and KiB, 32 bits each. */
const usedBytes = 12

/** As a frame carries it. */
export const toUsage = ({ number, extra }: Pick<Frame, 'number' | 'extra'>): Usage => ({
  cpuMs: number / 1000,
  heapBytes: extra * 1024,
})

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
