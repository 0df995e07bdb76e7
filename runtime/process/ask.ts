import { randomFillSync } from 'node:crypto'

const timeOrigin = Math.floor(performance.timeOrigin)
const mostRandomBytes = 65_536

/**
 * What the guest gets at once, without the host: random bytes, the clock. It is called at any depth of the guest's
 * stack, so nothing here is made lazily.
 */
export function answerAsk(op: unknown, argument: unknown): ArrayBuffer | number {
  if (op === 'random') {
    const length = Number(argument)
    const isLength = Number.isInteger(length) && length >= 0 && length <= mostRandomBytes
    const bytes = new Uint8Array(isLength ? length : 0)
    randomFillSync(bytes)
    return bytes.buffer
  }
  return op === 'time-origin' ? timeOrigin : Date.now()
}
