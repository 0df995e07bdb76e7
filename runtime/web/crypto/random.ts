import type { Wire } from '../bridge/wire.ts'
import { DOMException } from '../events/dom-exception.ts'

const randomLimitBytes = 65_536
const integerArrays = /^(?:Big)?(?:Int|Uint)(?:8|16|32|64)(?:Clamped)?Array$/

/** Web Crypto, 10.1: fills an integer array, of at most 65536 bytes, from the process's random source. */
export const createGetRandomValues =
  (wire: Wire) =>
  <T>(array: T): T => {
    if (
      !ArrayBuffer.isView(array) ||
      !integerArrays.test(Object.prototype.toString.call(array).slice(8, -1))
    ) {
      throw new DOMException('getRandomValues fills an array of integers', 'TypeMismatchError')
    }
    if (array.byteLength > randomLimitBytes) {
      throw new DOMException(`getRandomValues fills at most ${randomLimitBytes} bytes`, 'QuotaExceededError')
    }
    const random = new Uint8Array(wire.ask('random', array.byteLength) as ArrayBuffer)
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(random)
    return array
  }

/** RFC 9562, version 4. */
export const createRandomUuid = (wire: Wire) => (): string => {
  const bytes = new Uint8Array(wire.ask('random', 16) as ArrayBuffer)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  let text = ''
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) text += '-'
    text += (bytes[i] ?? 0).toString(16).padStart(2, '0')
  }
  return text
}
