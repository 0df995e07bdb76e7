import { webcrypto } from 'node:crypto'
import { type CpuClock, createCpuClock } from '../isolate/cpu-clock.ts'
import { readArguments } from './crypto-arguments.ts'
import { assertBounded } from './crypto-bounds.ts'
import { CryptoCallError, toCryptoError } from './crypto-error.ts'
import { createKeyTable } from './crypto-keys.ts'
import { makesKeys, type Operation, operations } from './crypto-operations.ts'
import { type CryptoTurns, createCryptoTurns } from './crypto-turns.ts'
import { hashAtOnce, hmacSecret } from './hash-at-once.ts'
import { createThreadTime } from './thread-time.ts'

/** A call named `crypto.*`, as the guest made it. */
export type CryptoCall = { dispatch: number; name: string; args: unknown; bytes?: ArrayBuffer | undefined }
export type CryptoAnswer =
  | { ok: true; value: unknown; bytes?: Uint8Array }
  | { ok: false; error: { name: string; message: string } }

export type CryptoCalls = {
  /** Answers later, and not at all when the dispatch is over by then. */
  start: (call: CryptoCall, settle: (answer: CryptoAnswer) => void) => void
  close: () => void
}

/** The sandbox whose calls they are. */
export type CryptoCaller = {
  turns: CryptoTurns
  /** CPU time that one dispatch may use in the threads. */
  threadMs: number
  isLive: (dispatch: number) => boolean
  cpuClock: CpuClock
  /** Adds time that was spent in the thread of all sandboxes to what a dispatch has used of its CPU time. */
  charge: (dispatch: number, ms: number) => void
}

/** Of one sandbox: calls that are not answered yet, and the bytes given with them. */
const maxWaiting = 1024
const maxWaitingBytes = 32 * 1024 * 1024
/** Begun without giving others a chance. */
const maxTogether = 64

const forTests: CryptoCaller = {
  turns: createCryptoTurns(),
  threadMs: 60_000,
  isLive: () => true,
  cpuClock: createCpuClock(),
  charge: () => {},
}

/**
 * The calls of one sandbox to `crypto.subtle`, served by Node's webcrypto. Keys stay here; the guest knows them by id.
 * Answers have an error with a name of Web Crypto and a message, and nothing of this process.
 *
 * Who pays: what is done in this thread, which all sandboxes share, is CPU time of the dispatch, and ends it over
 * SANDBOX_CPU_MS. What is done in Node's threads is bounded beforehand, takes turns, and over `threadMs` the next call
 * of that dispatch is refused.
 */
export const createCryptoCalls = (caller: CryptoCaller = forTests): CryptoCalls => {
  const { turns, isLive, cpuClock, charge } = caller
  const keys = createKeyTable()
  const lanes = { quick: turns.quick.createLane(), slow: turns.slow.createLane() }
  const threadTime = createThreadTime(caller.threadMs, isLive)
  let begins: (() => void)[] = []
  let waiting = 0
  let waitingBytes = 0
  let open = true

  /** In a turn of the event loop of its own: the guest has just run, and others wait. */
  const beginSoon = (begin: () => void): void => {
    begins.push(begin)
    if (begins.length === 1) setImmediate(beginSome)
  }

  const beginSome = (): void => {
    const some = begins.slice(0, maxTogether)
    begins = begins.slice(maxTogether)
    if (begins.length > 0) setImmediate(beginSome)
    for (const begin of some) begin()
  }

  /** Runs here what is quick, and has the rest run in a thread. */
  const begin = (call: CryptoCall, finish: (answer?: CryptoAnswer) => void): void => {
    const { dispatch, bytes } = call
    if (!open || !isLive(dispatch)) return finish()
    const startedMs = cpuClock.start()
    let answer: CryptoAnswer | undefined
    let inThread: (() => void) | undefined
    try {
      const operation = toOperation(call.name)
      const given = readArguments(operations[operation], call.args, { bytes, keys })
      const { slow } = assertBounded(operation, given)
      const hashed = hashAtOnce(operation, given, call.args, keys)
      if (hashed !== undefined) answer = { ok: true, ...hashed }
      else {
        inThread = () =>
          lanes[slow ? 'slow' : 'quick'].add((done) => runInThread(call, operation, given, done, finish))
      }
    } catch (error) {
      answer = { ok: false, error: toCryptoError(error) }
    }
    charge(dispatch, cpuClock.stop(startedMs))
    if (answer !== undefined) finish(answer)
    else inThread?.()
  }

  const runInThread = async (
    { dispatch, bytes }: CryptoCall,
    operation: Operation,
    given: unknown[],
    done: () => void,
    finish: (answer?: CryptoAnswer) => void,
  ): Promise<void> => {
    let answer: CryptoAnswer | undefined
    const stop = turns.clock.start()
    try {
      if (open && isLive(dispatch)) {
        threadTime.assertLeft(dispatch)
        const begunMs = cpuClock.start()
        const method = webcrypto.subtle[operation] as (...given: unknown[]) => Promise<unknown>
        const promise = method.apply(webcrypto.subtle, given)
        // Node reads arguments, and parses keys, in this thread.
        charge(dispatch, cpuClock.stop(begunMs))
        const result = await promise
        if (open && isLive(dispatch)) answer = toAnswer(operation, given, result, bytes?.byteLength ?? 0)
      } else await undefined
    } catch (error) {
      answer = { ok: false, error: toCryptoError(error) }
    }
    threadTime.spend(dispatch, stop())
    done()
    finish(answer)
  }

  const toAnswer = (
    operation: Operation,
    given: unknown[],
    result: unknown,
    materialBytes: number,
  ): CryptoAnswer => {
    if (makesKeys.has(operation)) {
      return { ok: true, value: keys.describe(result, materialBytes, hmacSecret(operation, given)) }
    }
    if (result instanceof ArrayBuffer) return { ok: true, value: null, bytes: new Uint8Array(result) }
    return { ok: true, value: result }
  }

  return {
    start(call, settle) {
      const size = call.bytes?.byteLength ?? 0
      if (waiting >= maxWaiting || waitingBytes + size > maxWaitingBytes) {
        return beginSoon(() => settle({ ok: false, error: tooMany }))
      }
      waiting += 1
      waitingBytes += size
      const finish = (answer?: CryptoAnswer): void => {
        waiting -= 1
        waitingBytes -= size
        if (open && answer !== undefined) settle(answer)
      }
      beginSoon(() => {
        if (call.name !== 'crypto.release') return begin(call, finish)
        keys.release(call.args)
        finish({ ok: true, value: null })
      })
    },
    close() {
      open = false
      begins = []
      lanes.quick.close()
      lanes.slow.close()
      keys.clear()
    },
  }
}

const tooMany = {
  name: 'OperationError',
  message: `Of crypto.subtle at most ${maxWaiting} operations wait at once, with at most ${maxWaitingBytes} bytes`,
}

const toOperation = (name: string): Operation => {
  const operation = name.replace(/^crypto\./, '')
  if (Object.hasOwn(operations, operation)) return operation as Operation
  throw new CryptoCallError('NotSupportedError', 'crypto.subtle has no such operation')
}
