import type { Wire } from '../bridge/wire.ts'
import { DOMException } from '../events/dom-exception.ts'
import { Bytes, NativeTypeError } from '../primordials.ts'
import { typedArrayName } from './conversions.ts'

const randomLimitBytes = 65_536
const integerArrays: unknown[] = [
  'Uint8Array',
  'Uint8ClampedArray',
  'Uint16Array',
  'Uint32Array',
  'BigUint64Array',
  'Int8Array',
  'Int16Array',
  'Int32Array',
  'BigInt64Array',
]

/** Web Crypto, 10.1: fills an integer array, of at most 65536 bytes, from the process's random source. */
export const createGetRandomValues =
  (wire: Wire) =>
  <T>(array: T): T => {
    if (!ArrayBuffer.isView(array)) throw new NativeTypeError('getRandomValues fills a typed array')
    if (!integerArrays.includes(typedArrayName(array))) {
      throw new DOMException('getRandomValues fills an array of integers', 'TypeMismatchError')
    }
    if (array.byteLength > randomLimitBytes) {
      throw new DOMException(`getRandomValues fills at most ${randomLimitBytes} bytes`, 'QuotaExceededError')
    }
    const random = new Bytes(wire.ask('random', array.byteLength) as ArrayBuffer)
    new Bytes(array.buffer, array.byteOffset, array.byteLength).set(random)
    return array
  }

const hexPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** RFC 9562, version 4. */
export const createRandomUuid = (wire: Wire) => (): string => {
  const bytes = new Bytes(wire.ask('random', 16) as ArrayBuffer)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  let text = ''
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) text += '-'
    text += hexPairs[bytes[i] ?? 0]
  }
  return text
}
