import type ivm from 'isolated-vm'
import { logLevels, message } from '../../wire-kinds.ts'
import { answerAsk } from '../ask.ts'
import type { BlackBox } from '../black-box.ts'
import { createCryptoCalls } from '../crypto/crypto-calls.ts'
import type { CryptoTurns } from '../crypto/crypto-turns.ts'
import type { Frame, FrameToWrite } from '../frame.ts'
import { type BrokenReason, type LoadOptions, toHost } from '../messages.ts'
import { atLoad, createBudgets, type Used } from './budgets.ts'
import type { CpuClock } from './cpu-clock.ts'
import { createGuestBodies, type GuestBody } from './guest-body.ts'
import { describeGuestError, messageOf } from './guest-stack.ts'
import type { SpareIsolate } from './isolate-pool.ts'
import { createPostPasser, type Wake } from './pass-posts.ts'
import { createPostQueue } from './post-queue.ts'
import { createTimers } from './timers.ts'

/** How a sandbox reports to its process. */
export type SandboxReports = {
  send: (frame: FrameToWrite) => void
  /** Before a stretch, which may end the process: frames of other sandboxes are flushed. */
  beforeStretch: () => void
  /** After a stretch that no frame has caused: a timer, a cryptographic result. */
  afterOwnStretch: () => void
  /** Reports the last stretch where it was long. @returns whether it was */
  reportStuck: (ms: number) => boolean
  /** @param used the usage of its open dispatches: see `Budgets` */
  broken: (reason: BrokenReason, dispatch: number, message: string, used: Buffer) => void
}

export type Sandbox = {
  /** Gives the guest a message, and charges a dispatch. `kind` is one of `message` in wire-kinds.ts. */
  deliver: (kind: number, id: number, number: number, frame: Frame) => void
  /** Begins a dispatch. @returns false after a long stretch: the host may have moved the dispatch */
  begin: (kind: number, frame: Frame) => boolean
  setEnvironment: (frame: Frame) => void
  forget: (dispatch: number) => Used
  close: () => void
}

/** A function of the guest is opaque here: text and bytes in, a handle or nothing out. */
type GuestFunction = (...given: unknown[]) => unknown
type Booted = { receive: GuestFunction; define: GuestFunction }

/** The error text of isolated-vm when it stops a guest. */
const timedOut = 'Script execution timed out.'
/** isolated-vm stopped by wall time a guest that had not used its CPU time: the machine is busy. */
const starved = 'The machine left the script too little CPU time.'
/** Cryptography runs in threads, where a dispatch may use so many times its CPU time. */
const threadTimes = 10

/**
 * One isolate that runs one version for one installation. `enter` begins each stretch of guest code: it bounds the CPU time,
 * notes sandbox and dispatch in the black box, and charges the time to the dispatch.
 *
 * @throws the error that the script threw while it was loaded
 */
export function createSandbox(given: {
  engine: typeof ivm
  spare: SpareIsolate
  number: number
  bundle: string
  options: LoadOptions
  blackBox: BlackBox
  cpuClock: CpuClock
  cryptoTurns: CryptoTurns
  reports: SandboxReports
}): Sandbox {
  const { engine, options, blackBox, cpuClock, reports, number: sandbox } = given
  const { isolate, context } = given.spare
  const budgets = createBudgets(options.cpuMs)
  const heapBytes = createHeapMeter(isolate)
  const bodies = createGuestBodies(engine)
  /** Environments that the guest does not have yet. It gets each once, charged to the first dispatch that names it. */
  const environments = new Map<number, string>()
  const posts = createPostQueue()
  const crypto = createCryptoCalls({
    turns: given.cryptoTurns,
    threadMs: options.cpuMs * threadTimes,
    isLive: budgets.has,
    cpuClock,
    charge,
  })
  const timers = createTimers(
    (dispatch, id) => wake(dispatch, message.fire, id, 0, ''),
    (dispatch, text) => log(dispatch, 'warn', text),
    options.timers,
  )
  const { pieceBytes } = options
  const pass = createPostPasser({
    sandbox,
    pieceBytes,
    budgets,
    timers,
    crypto,
    bodies,
    wake,
    send: reports.send,
  })
  let isOpen = true

  const boot = context.global.getSync('__annexBoot', { reference: true }) as ivm.Reference<GuestFunction>
  const receive = start()
  return {
    deliver(kind, id, number, { dispatch, text, body }) {
      budgets.earn(dispatch, body.byteLength)
      enter(dispatch, kind, id, number, text, bodies.fromFrame(body))
    },
    begin(kind, { dispatch, number, text, body }) {
      budgets.open(dispatch)
      const environment = environments.get(number)
      if (environment !== undefined) {
        // The first stretch of the dispatch: only here a long stretch before it can refuse the dispatch.
        if (!enter(dispatch, message.environment, number, 0, environment, undefined, dispatch)) return false
        environments.delete(number)
      }
      return enter(dispatch, kind, dispatch, number, text, bodies.fromFrame(body), dispatch)
    },
    setEnvironment({ number, text }) {
      environments.set(number, text)
    },
    forget: budgets.close,
    close,
  }

  function start(): ivm.Reference {
    const limit = { timeout: cpuClock.wallFor(options.loadMs, options.wallMs) }
    blackBox.enter(sandbox, atLoad)
    const startedMs = cpuClock.start()
    try {
      const booted = boot.applySync(
        undefined,
        [new engine.Callback(onPost), new engine.Callback(answerAsk), options.allowEval],
        { ...limit, result: { reference: true } },
      ) as unknown as ivm.Reference<Booted>
      const define = booted.getSync('define', { reference: true })
      // The bundle is one call of this function, which exists for that call alone.
      context.global.setSync('__annexDefine', define.derefInto())
      context.evalSync(given.bundle, { filename: options.file, ...limit })
      context.global.deleteSync('__annexDefine')
      return booted.getSync('receive', { reference: true })
    } catch (error) {
      close()
      throw isStarved(error, cpuClock.stop(startedMs), options.loadMs) ? new Error(starved) : error
    } finally {
      posts.drain((one) => pass(one, atLoad))
    }
  }

  /** @returns false after a long stretch, when the dispatch was not begun */
  function enter(
    dispatch: number,
    kind: number,
    id: number,
    number: number,
    text: string,
    body?: GuestBody,
    begun = 0,
  ): boolean {
    const budget = budgets.get(dispatch)
    // After the end of a dispatch its code never wakes: no budget would be charged.
    if (!isOpen || budget === undefined) return true
    reports.beforeStretch()
    if (reports.reportStuck(blackBox.enter(sandbox, dispatch, begun)) && begun !== 0) return false
    const leftMs = Math.min(options.cpuMs, budget.allowedMs - budget.cpuMs)
    const startedMs = cpuClock.start()
    let failure: unknown = nothing
    try {
      receive.applySync(undefined, [kind, id, number, text, body], {
        timeout: cpuClock.wallFor(leftMs, options.wallMs),
      })
    } catch (error) {
      failure = error
    }
    const usedMs = cpuClock.stop(startedMs)
    budget.cpuMs += usedMs
    if (isStarved(failure, usedMs, leftMs)) failure = new Error(starved)
    try {
      budget.heapBytes = Math.max(budget.heapBytes, heapBytes(startedMs))
    } catch (error) {
      // isolated-vm throws an unhandled rejection of the guest from its next call. Uncaught, it ends this process.
      if (failure === nothing) failure = error
    }
    const isRejected = isRejection(failure)
    posts.drain(
      (one) => pass(one, dispatch),
      () =>
        isRejected && log(dispatch, 'error', `Uncaught (in promise) ${describeGuestError(failure).stack}`),
    )
    if (failure !== nothing && !isRejected) breakDown(failure, dispatch)
    else charge(dispatch, 0)
    return true
  }

  /** For stretches that no frame causes: they end the batch themselves. */
  function wake(...given: Parameters<Wake>): void {
    enter(...given)
    reports.afterOwnStretch()
  }

  /** Charges time to a dispatch, also time outside of its isolate, and ends the sandbox above the budget. */
  function charge(dispatch: number, ms: number): void {
    const budget = budgets.get(dispatch)
    if (budget === undefined) return
    budget.cpuMs += ms
    if (budget.cpuMs <= budget.allowedMs) return
    // No visitor waits for work that was started at load: it ends here, and the sandbox goes on.
    if (dispatch === atLoad) budgets.close(atLoad)
    else breakDown(new Error(timedOut), dispatch)
  }

  /**
   * An unhandled rejection of the guest is thrown after the stretch. It does no harm: the answer of the script is posted, and
   * the isolate is intact.
   */
  function isRejection(failure: unknown): boolean {
    return failure !== nothing && !isolate.isDisposed && ![timedOut, starved].includes(messageOf(failure))
  }

  function log(dispatch: number, level: (typeof logLevels)[number], text: string): void {
    reports.send({ type: toHost.log, sandbox, dispatch, number: logLevels.indexOf(level), text })
  }

  /** A guest that was stopped has lost its invariants: the isolate is not used again. */
  function breakDown(failure: unknown, dispatch: number): void {
    const text = messageOf(failure)
    const isMemory = isolate.isDisposed || /memory limit/.test(text)
    close()
    const reason =
      text === timedOut ? 'cpu_limit' : text === starved ? 'starved' : isMemory ? 'memory_limit' : 'crashed'
    reports.broken(reason, dispatch, text.slice(0, 500), budgets.all())
  }

  /** Called by the guest. It never throws: an error of this side would show the guest its paths. */
  function onPost(kind: unknown, id: unknown, number: unknown, text: unknown, body: unknown): void {
    try {
      posts.push(kind, id, number, text, body)
    } catch {
      // The guest's stack is used up.
    }
  }

  function close(): void {
    isOpen = false
    timers.clearAll()
    crypto.close()
    if (!isolate.isDisposed) isolate.dispose()
  }
}

/** No failure. A promise may be rejected with any value, with `undefined` too. */
const nothing = Symbol('nothing failed')

const isStarved = (failure: unknown, usedMs: number, limitMs: number): boolean =>
  messageOf(failure) === timedOut && usedMs < limitMs

/** Reading the heap statistics of V8 is too slow for each stretch. */
const heapReadEveryMs = 20

/** @returns a function that returns the heap of the isolate in bytes, as last read */
function createHeapMeter(isolate: ivm.Isolate): (nowMs: number) => number {
  let heap = 0
  let readAtMs = -heapReadEveryMs
  return (nowMs) => {
    if (nowMs - readAtMs >= heapReadEveryMs && !isolate.isDisposed) {
      readAtMs = nowMs
      const { used_heap_size: used, externally_allocated_size: external } = isolate.getHeapStatisticsSync()
      heap = used + external
    }
    return heap
  }
}
