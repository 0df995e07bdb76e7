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
import { createHeapMeter } from './heap-meter.ts'
import { createPostPasser, type Wake } from './pass-posts.ts'
import { createPostQueue } from './post-queue.ts'
import type { Blank } from './isolate-pool.ts'
import { createTimers } from './timers.ts'

/** How a sandbox reports to its process. */
export type SandboxReports = {
  send: (frame: FrameToWrite) => void
  /** Before a stretch: what other sandboxes have said leaves now, as this stretch may end the process. */
  beforeStretch: () => void
  /** After a stretch that its process did not ask for (a timer, a key that is ready). */
  afterOwnStretch: () => void
  /** Given how long the stretch before this one could be seen: whether it has kept the others waiting. */
  wasStuck: (ms: number) => boolean
  /** @param used what its open dispatches have used: see `Budgets` */
  broken: (reason: BrokenReason, dispatch: number, message: string, used: Buffer) => void
}

export type Sandbox = {
  /** Hands a message to the guest, at the cost of a dispatch. `kind` is one of `message` in wire-kinds.ts. */
  deliver: (kind: number, id: number, number: number, frame: Frame) => void
  /** The same, as the beginning of the dispatch. False when the process has been stuck: it may run elsewhere by now. */
  begin: (kind: number, frame: Frame) => boolean
  /** Keeps an environment for the dispatches that name it. */
  setEnvironment: (frame: Frame) => void
  /** @returns what it has used */
  forget: (dispatch: number) => Used
  close: () => void
}

/** Seen from here a function of the guest is opaque: text and bytes in, a handle or nothing out. */
type GuestFunction = (...given: unknown[]) => unknown
type Booted = { receive: GuestFunction; define: GuestFunction }

/** What isolated-vm says when it stops a guest. */
const timedOut = 'Script execution timed out.'
/** isolated-vm stopped a guest by the wall clock that had not used its CPU time: the machine is busy. */
const starved = 'The machine left the script too little CPU time.'
/** A dispatch may use so many times its CPU time in threads, where cryptography runs. */
const threadTimes = 10

/**
 * One isolate that runs one version for one installation. Every stretch of guest code is entered by `enter`,
 * which bounds its CPU time, notes in the black box whose code runs, and charges the time to a dispatch.
 *
 * @throws what the script threw while it was loaded
 */
export function createSandbox(given: {
  engine: typeof ivm
  blank: Blank
  number: number
  bundle: string
  options: LoadOptions
  blackBox: BlackBox
  cpuClock: CpuClock
  cryptoTurns: CryptoTurns
  reports: SandboxReports
}): Sandbox {
  const { engine, options, blackBox, cpuClock, reports, number: sandbox } = given
  const { isolate, context } = given.blank
  const budgets = createBudgets(options.cpuMs)
  const heapBytes = createHeapMeter(isolate)
  const bodies = createGuestBodies(engine)
  /** Those that the guest does not have yet: it gets each once, at the cost of the first dispatch that names it. */
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
    ...{ sandbox, pieceBytes, budgets, timers, crypto, bodies, wake },
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
        // It is the first stretch of the dispatch: what came before is asked for here, and not once more below.
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
      // The bundle is one call of this function. It is there for that call alone.
      context.global.setSync('__annexDefine', define.derefInto())
      context.evalSync(given.bundle, { filename: options.file, ...limit })
      context.global.deleteSync('__annexDefine')
      return booted.getSync('receive', { reference: true })
    } catch (error) {
      close()
      throw isStarved(error, cpuClock.stop(startedMs), options.loadMs) ? new Error(starved) : error
    } finally {
      posts.drain((said) => pass(said, atLoad))
    }
  }

  /** False when it is not entered because the process has been stuck. */
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
    // Once a dispatch is done or given up, nothing wakes its code again: background work would be nobody's.
    if (!isOpen || budget === undefined) return true
    reports.beforeStretch()
    if (reports.wasStuck(blackBox.enter(sandbox, dispatch, begun)) && begun !== 0) return false
    const leftMs = Math.min(options.cpuMs, budget.allowedMs - budget.cpuMs)
    const startedMs = cpuClock.start()
    let failure: unknown
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
      // isolated-vm throws a rejection that nobody looks at from whatever comes next: unseen, it ends the process.
      failure ??= error
    }
    const isRejected = isRejection(failure)
    posts.drain(
      (said) => pass(said, dispatch),
      () =>
        isRejected && log(dispatch, 'error', `Uncaught (in promise) ${describeGuestError(failure).stack}`),
    )
    if (failure !== undefined && !isRejected) breakDown(failure, dispatch)
    else charge(dispatch, 0)
    return true
  }

  /** For what happens in the process itself: nobody else ends the batch. */
  function wake(...given: Parameters<Wake>): void {
    enter(...given)
    reports.afterOwnStretch()
  }

  /** Adds time that was spent for a dispatch, also outside its isolate, and ends it when that was too much. */
  function charge(dispatch: number, ms: number): void {
    const budget = budgets.get(dispatch)
    if (budget === undefined) return
    budget.cpuMs += ms
    if (budget.cpuMs <= budget.allowedMs) return
    // Nobody waits for what was started at load: it ends here, and the sandbox goes on.
    if (dispatch === atLoad) budgets.close(atLoad)
    else breakDown(new Error(timedOut), dispatch)
  }

  /**
   * A promise of the guest that was rejected, and that nobody looks at, comes out here after the stretch. The script
   * has been told apart from it: its answer is posted, and the isolate is well.
   */
  function isRejection(failure: unknown): boolean {
    return failure !== undefined && !isolate.isDisposed && ![timedOut, starved].includes(messageOf(failure))
  }

  function log(dispatch: number, level: (typeof logLevels)[number], text: string): void {
    reports.send({ type: toHost.log, sandbox, dispatch, number: logLevels.indexOf(level), text })
  }

  /** A guest that was stopped in mid-flight has lost its invariants: the isolate is not used again. */
  function breakDown(failure: unknown, dispatch: number): void {
    const text = messageOf(failure)
    const isMemory = isolate.isDisposed || /memory limit/.test(text)
    close()
    const reason =
      text === timedOut ? 'cpu_limit' : text === starved ? 'starved' : isMemory ? 'memory_limit' : 'crashed'
    reports.broken(reason, dispatch, text.slice(0, 500), budgets.all())
  }

  /** Called by the guest. Nothing may be thrown back: an error of this side would carry its paths across. */
  function onPost(kind: unknown, id: unknown, number: unknown, text: unknown, body: unknown): void {
    try {
      posts.push(kind, id, number, text, body)
    } catch {
      // Too deep in the guest's stack even for that.
    }
  }

  function close(): void {
    isOpen = false
    timers.clearAll()
    crypto.close()
    if (!isolate.isDisposed) isolate.dispose()
  }
}

const isStarved = (failure: unknown, usedMs: number, limitMs: number): boolean =>
  failure !== undefined && messageOf(failure) === timedOut && usedMs < limitMs
