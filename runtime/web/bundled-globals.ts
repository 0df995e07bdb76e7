/**
 * Names that the bundled libraries expect on the global object while they are evaluated, and that an isolate
 * does not have then. The build puts these in their place; no script sees them.
 */
export { TextDecoder, TextEncoder } from './encoding/text-encoding.ts'

/** webidl-conversions asks whether a value is one by calling its getters, which throw for anything else. */
class AbsentSharedArrayBuffer {
  get byteLength(): number {
    throw new TypeError('There is no shared memory in a sandbox')
  }
  get growable(): boolean {
    throw new TypeError('There is no shared memory in a sandbox')
  }
}

export { AbsentSharedArrayBuffer as SharedArrayBuffer }
