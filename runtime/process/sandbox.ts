import { isUtf8 } from 'node:buffer'
import type ivm from 'isolated-vm'
import type { PlainError } from '../bridge.ts'
import { answered, logLevels, message, post } from '../wire-kinds.ts'
import { answerAsk } from './ask.ts'
import type { BlackBox } from './black-box.ts'
import { createCryptoCalls } from './crypto/crypto-calls.ts'
import type { CryptoTurns } from './crypto/crypto-turns.ts'
import type { Frame, FrameToWrite } from './frame.ts'
import { describeGuestError } from './guest-stack.ts'
import { type BrokenReason, type LoadOptions, toHost, withStream } from './messages.ts'
import { createPlatformContext, type Platform } from './platform.ts'
import { createPostQueue, type GuestPost, sizeOf } from './post-queue.ts'
import { createMeter, type Spent } from './spent.ts'
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
  broken: (reason: BrokenReason, dispatch: number, message: string) => void
}

export type Sandbox = {
  /** Hands a message to the guest, at the cost of a dispatch. `kind` is one of `message` in wire-kinds.ts. */
  deliver: (kind: number, id: number, number: number, frame: Frame) => void
  /** The same, as the beginning of the dispatch. False when the process has been stuck: it may run elsewhere by now. */
  begin: (kind: number, frame: Frame) => boolean
  /** Keeps an environment for the dispatches that name it. */
  setEnvironment: (frame: Frame) => void
  forget: (dispatch: number) => void
  close: () => void
}

/** Seen from here a function of the guest is opaque: text and bytes in, a handle or nothing out. */
type GuestFunction = (...given: unknown[]) => unknown
type GuestBody = string | ivm.Copy<ArrayBuffer> | undefined
type Booted = { receive: GuestFunction; define: GuestFunction }

/** What isolated-vm says when it stops a guest. */
const timedOut = 'Script execution timed out.'
/** A body that is UTF-8 and no longer crosses as text. */
const textBodyBytes = 64 * 1024
/** CPU time that a MiB earns which crosses for a dispatch. */
const msPerMib = 8

/**
 * One isolate that runs one version for one installation. Every stretch of guest code is entered by `enter`,
 * which bounds its CPU time, notes in the black box whose code runs, and charges the time to a dispatch.
 *
 * @throws what the script threw while it was loaded
 */
export function createSandbox(given: {
  engine: typeof ivm
  platform: Platform
  number: number
  bundle: string
  options: LoadOptions
  blackBox: BlackBox
  cryptoTurns: CryptoTurns
  reports: SandboxReports
}): Sandbox {
  const { engine, options, blackBox, reports, number: sandbox } = given
  const { isolate, context } = createPlatformContext(engine, given.platform, {
    memoryLimit: options.heapMb,
    // V8 is beyond help: even process.exit() would hang. The black box already says whose code it was.
    onCatastrophicError: () => process.kill(process.pid, 'SIGKILL'),
  })
  const crypto = createCryptoCalls({
    turns: given.cryptoTurns,
    threadMs: options.cpuMs * 10,
    isLive: (dispatch) => open.has(dispatch),
    charge,
  })
  const meter = createMeter(isolate)
  // 0 stands for what the script started while it was loaded: one budget for all of it.
  const open = new Map<number, Spent>([[0, newSpent()]])
  /** Those that the guest does not have yet: it gets each once, at the cost of the first dispatch that names it. */
  const environments = new Map<number, string>()
  const posts = createPostQueue()
  const timers = createTimers(
    (dispatch, id) => enterOwn(dispatch, message.fire, id, 0, ''),
    (dispatch, text) => log(dispatch, 'warn', text),
    options.timers,
  )
  let running = 0
  let isOpen = true

  const boot = context.global.getSync('__annexBoot', { reference: true }) as ivm.Reference<GuestFunction>
  const receive = start()
  return {
    deliver(kind, id, number, { dispatch, text, body }) {
      earn(dispatch, body.byteLength)
      enter(dispatch, kind, id, number, text, toWire(body))
    },
    begin(kind, { dispatch, number, text, body }) {
      open.set(dispatch, newSpent())
      const environment = environments.get(number)
      if (environment !== undefined) {
        environments.delete(number)
        enter(dispatch, message.environment, number, 0, environment)
      }
      return enter(dispatch, kind, dispatch, number, text, toWire(body), true)
    },
    setEnvironment({ number, text }) {
      environments.set(number, text)
    },
    forget(dispatch) {
      open.delete(dispatch)
    },
    close,
  }

  function newSpent(): Spent {
    return { cpuMs: 0, allowedMs: options.cpuMs, heapBytes: 0 }
  }

  function start(): ivm.Reference {
    const limit = { timeout: options.loadMs }
    blackBox.enter(sandbox, 0, false)
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
      throw error
    } finally {
      posts.drain(handlePost)
    }
  }

  function enter(
    dispatch: number,
    kind: number,
    id: number,
    number: number,
    text: string,
    body?: GuestBody,
    begins = false,
  ): boolean {
    const spent = open.get(dispatch)
    // Once a dispatch is done or given up, nothing wakes its code again: background work would be nobody's.
    if (!isOpen || spent === undefined) return true
    reports.beforeStretch()
    running = dispatch
    if (reports.wasStuck(blackBox.enter(sandbox, dispatch, begins)) && begins) return false
    const startedMs = performance.now()
    let failure: unknown
    try {
      receive.applySync(undefined, [kind, id, number, text, body], {
        timeout: Math.max(1, Math.ceil(Math.min(options.cpuMs, spent.allowedMs - spent.cpuMs))),
      })
    } catch (error) {
      failure = error
    }
    const wallMs = performance.now() - startedMs
    spent.cpuMs += meter.stretch(wallMs)
    spent.heapBytes = Math.max(spent.heapBytes, meter.heapBytes())
    posts.drain(handlePost)
    running = 0
    if (failure !== undefined && !isHarmless(failure, dispatch)) breakDown(failure, dispatch)
    else if (spent.cpuMs > spent.allowedMs) overspent(dispatch)
    return true
  }

  /** For what happens in the process itself: nobody else ends the batch. */
  function enterOwn(
    dispatch: number,
    kind: number,
    id: number,
    number: number,
    text: string,
    body?: GuestBody,
  ): void {
    enter(dispatch, kind, id, number, text, body)
    reports.afterOwnStretch()
  }

  /** Time that was spent for a dispatch outside its isolate. */
  function charge(dispatch: number, ms: number): void {
    const spent = open.get(dispatch)
    if (spent === undefined) return
    spent.cpuMs += ms
    if (spent.cpuMs > spent.allowedMs) overspent(dispatch)
  }

  function overspent(dispatch: number): void {
    if (!open.has(dispatch)) return
    // Nobody waits for what was started at load: it ends here, and the sandbox goes on.
    if (dispatch === 0) open.delete(0)
    else breakDown(new Error(timedOut), dispatch)
  }

  function earn(dispatch: number, bytes: number): void {
    const spent = open.get(dispatch)
    if (spent !== undefined) spent.allowedMs += (bytes / (1024 * 1024)) * msPerMib
  }

  /** Text where it can be: the guest then need not decode it, nor the process hand over memory. */
  function toWire(body: Buffer): GuestBody {
    if (body.byteLength === 0) return undefined
    return body.byteLength <= textBodyBytes && isUtf8(body) ? body.toString() : transfer(exactBuffer(body))
  }

  function transfer(bytes: ArrayBuffer): GuestBody {
    return new engine.ExternalCopy(bytes, { transferOut: true }).copyInto({ release: true, transferIn: true })
  }

  /**
   * A promise of the guest that was rejected, and that nobody looks at, comes out here after the stretch. The script
   * has been told apart from it: its answer is posted, and the isolate is well.
   */
  function isHarmless(failure: unknown, dispatch: number): boolean {
    if (isolate.isDisposed || messageOf(failure) === timedOut) return false
    log(dispatch, 'error', `Uncaught (in promise) ${describeGuestError(failure).stack}`)
    return true
  }

  function log(dispatch: number, level: (typeof logLevels)[number], text: string): void {
    reports.send({ type: toHost.log, sandbox, dispatch, number: logLevels.indexOf(level), text })
  }

  /** A guest that was stopped in mid-flight has lost its invariants: the isolate is not used again. */
  function breakDown(failure: unknown, dispatch: number): void {
    const text = messageOf(failure)
    const reason: BrokenReason =
      text === timedOut
        ? 'cpu_limit'
        : isolate.isDisposed || /memory limit/.test(text)
          ? 'memory_limit'
          : 'crashed'
    close()
    reports.broken(reason, dispatch, text.slice(0, 500))
  }

  /** Called by the guest. Nothing may be thrown back: an error of this side would carry its paths across. */
  function onPost(kind: unknown, id: unknown, number: unknown, text: unknown, body: unknown): void {
    try {
      posts.push(kind, id, number, text, body)
    } catch {
      // Too deep in the guest's stack even for that.
    }
  }

  function handlePost({ kind, id, number, text, body }: GuestPost): void {
    switch (kind) {
      case post.answer:
        return answer(id, number, text, body)
      case post.done:
        return reports.send({ type: toHost.done, sandbox, dispatch: id, ...takeSpent(id) })
      case post.log:
        return reports.send({ type: toHost.log, sandbox, dispatch: running, number, text })
      case post.timer:
        return timers.start(running, id, number)
      case post.clearTimer:
        return timers.clear(id)
      case post.call:
        return call(id, number, text, body)
      case post.abort:
        return reports.send({ type: toHost.abort, sandbox, dispatch: running, number: id })
      case post.chunk:
        if (sizeOf(body) > options.pieceBytes) return
        earn(id, sizeOf(body))
        return reports.send({ type: toHost.chunk, sandbox, dispatch: id, number, ...(body && { body }) })
      case post.end:
        return reports.send({ type: toHost.end, sandbox, dispatch: id, number })
      case post.fail:
        return reports.send({ type: toHost.fail, sandbox, dispatch: id, number, text })
      case post.pull:
        return reports.send({ type: toHost.pull, sandbox, dispatch: id, number })
      case post.cancel:
        return reports.send({ type: toHost.cancel, sandbox, dispatch: id, number })
    }
  }

  function answer(
    dispatch: number,
    state: number,
    text: string,
    body: string | Uint8Array | undefined,
  ): void {
    if (text.length + sizeOf(body) > options.pieceBytes) {
      return reports.send({ type: toHost.tooLarge, sandbox, dispatch })
    }
    const frame = { type: toHost.answer, sandbox, dispatch, flags: state, text, ...(body && { body }) }
    reports.send(state === answered.done ? { ...frame, ...takeSpent(dispatch) } : frame)
  }

  /** What a dispatch has used, in µs and KiB. It is done: nothing wakes it again. */
  function takeSpent(dispatch: number): { number: number; extra: number } {
    const spent = open.get(dispatch)
    open.delete(dispatch)
    if (spent === undefined) return { number: 0, extra: 0 }
    return { number: Math.round(spent.cpuMs * 1000) >>> 0, extra: Math.round(spent.heapBytes / 1024) }
  }

  function call(id: number, streams: number, text: string, body: string | Uint8Array | undefined): void {
    const dispatch = running
    if (text.length + sizeOf(body) > options.pieceBytes) {
      const error: PlainError = {
        name: 'body_too_large',
        message: `A call with more than ${options.pieceBytes} bytes in one piece.`,
      }
      setImmediate(() => enterOwn(dispatch, message.reject, id, 0, JSON.stringify(error)))
    } else if (text.startsWith('crypto.')) answerCrypto(dispatch, id, text, body)
    else {
      const flags = streams === 1 ? withStream : 0
      reports.send({ type: toHost.call, sandbox, dispatch, number: id, flags, text, ...(body && { body }) })
    }
  }

  function answerCrypto(
    dispatch: number,
    id: number,
    text: string,
    body: string | Uint8Array | undefined,
  ): void {
    const [name, args] = parseCall(text)
    const given = typeof body === 'string' ? Buffer.from(body) : body
    crypto.start({ dispatch, name, args, bytes: given && exactBuffer(given) }, (answer) => {
      if (!answer.ok) return enterOwn(dispatch, message.reject, id, 0, JSON.stringify(answer.error))
      const bytes = answer.bytes && transfer(exactBuffer(answer.bytes))
      enterOwn(dispatch, message.settle, id, 0, JSON.stringify(answer.value) ?? 'null', bytes)
    })
  }

  function close(): void {
    isOpen = false
    timers.clearAll()
    crypto.close()
    if (!isolate.isDisposed) isolate.dispose()
  }
}

/** Name and arguments of a call: see `bridge.ts`. */
export function parseCall(text: string): [name: string, args: unknown] {
  const end = text.indexOf('\n')
  return [text.slice(0, end), JSON.parse(text.slice(end + 1))]
}

const exactBuffer = (bytes: Uint8Array): ArrayBuffer =>
  bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
