import type ivm from 'isolated-vm'
import type { GuestMessage, GuestPost, LogLevel } from '../bridge.ts'
import { answerAsk } from './ask.ts'
import type { BlackBox } from './black-box.ts'
import { createCryptoCalls } from './crypto/crypto-calls.ts'
import type { CryptoTurns } from './crypto/crypto-turns.ts'
import { describeGuestError } from './guest-stack.ts'
import type { BrokenReason } from './messages.ts'
import { createPlatformContext, type Platform } from './platform.ts'
import { createPostQueue } from './post-queue.ts'
import { createTimers } from './timers.ts'

export type SandboxLimits = { heapMb: number; cpuMs: number; bodyBytes: number }

/** How a sandbox reports to its process. Texts are the guest's own JSON, passed on unread. */
export type SandboxReports = {
  post: (dispatch: number, text: string, body?: Uint8Array) => void
  tooLarge: (dispatch: number) => void
  /** What is reported meanwhile leaves in one piece. */
  together: (report: () => void) => void
  broken: (reason: BrokenReason, dispatch: number, message: string) => void
}

export type Sandbox = {
  dispatch: (id: number, text: string, body: Uint8Array) => void
  settle: (dispatch: number, text: string, body: Uint8Array) => void
  forget: (id: number) => void
  close: () => void
}

/** Seen from here a function of the guest is opaque: text and bytes in, a handle or nothing out. */
type GuestFunction = (...given: unknown[]) => unknown
type Booted = { receive: GuestFunction; define: GuestFunction }

/** What isolated-vm says when it stops a guest. */
const timedOut = 'Script execution timed out.'

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
  file: string
  bundle: string
  limits: SandboxLimits
  blackBox: BlackBox
  cryptoTurns: CryptoTurns
  reports: SandboxReports
}): Sandbox {
  const { engine, limits, blackBox, reports, number } = given
  const { isolate, context } = createPlatformContext(engine, given.platform, {
    memoryLimit: limits.heapMb,
    // V8 is beyond help: even process.exit() would hang. The black box already says whose code it was.
    onCatastrophicError: () => process.kill(process.pid, 'SIGKILL'),
  })
  const crypto = createCryptoCalls({
    turns: given.cryptoTurns,
    threadMs: limits.cpuMs * 10,
    isLive: (dispatch) => spentMs.has(dispatch),
    charge: (dispatch, ms) => charge(dispatch, (spentMs.get(dispatch) ?? 0) + ms),
  })
  // 0 stands for what the script started while it was loaded: one budget for all of it.
  const spentMs = new Map<number, number>([[0, 0]])
  const posts = createPostQueue()
  const timers = createTimers(
    (dispatch, id) => enterWith(dispatch, { kind: 'fire', id }),
    (dispatch, text) => log(dispatch, 'warn', text),
  )
  let running = 0
  let open = true

  const boot = context.global.getSync('__annexBoot', { reference: true }) as ivm.Reference<GuestFunction>
  const receive = start()
  return {
    dispatch(id, text, body) {
      spentMs.set(id, 0)
      enter(id, text, body, true)
    },
    settle(dispatch, text, body) {
      enter(dispatch, text, body)
    },
    forget(id) {
      spentMs.delete(id)
    },
    close,
  }

  function start(): ivm.Reference {
    const options = { timeout: limits.cpuMs }
    blackBox.enter(number, 0, false)
    try {
      const booted = boot.applySync(
        undefined,
        [new engine.Callback(onPost), new engine.Callback(answerAsk)],
        {
          ...options,
          result: { reference: true },
        },
      ) as unknown as ivm.Reference<Booted>
      const define = booted.getSync('define', { reference: true })
      // The bundle is one call of this function. It is there for that call alone.
      context.global.setSync('__annexDefine', define.derefInto())
      context.evalSync(given.bundle, { filename: given.file, ...options })
      context.global.deleteSync('__annexDefine')
      return booted.getSync('receive', { reference: true })
    } catch (error) {
      close()
      throw error
    } finally {
      blackBox.leave()
      reports.together(() => posts.drain(handlePost))
    }
  }

  function enter(dispatch: number, text: string, body: Uint8Array, begins = false): void {
    const spent = spentMs.get(dispatch)
    // Once a dispatch is done or given up, nothing wakes its code again: background work would be nobody's.
    if (!open || spent === undefined) return
    const before = isolate.cpuTime
    running = dispatch
    blackBox.enter(number, dispatch, begins)
    let failure: unknown
    try {
      receive.applySync(undefined, [text, body.byteLength === 0 ? undefined : transfer(body)], {
        timeout: Math.max(1, Math.ceil(limits.cpuMs - spent)),
      })
    } catch (error) {
      failure = error
    }
    blackBox.leave()
    reports.together(() => {
      posts.drain(handlePost)
      running = 0
      if (failure !== undefined && !isHarmless(failure, dispatch)) breakDown(failure, dispatch)
      else charge(dispatch, spent + Number(isolate.cpuTime - before) / 1e6)
    })
  }

  function charge(dispatch: number, totalMs: number): void {
    if (!spentMs.has(dispatch)) return
    spentMs.set(dispatch, totalMs)
    if (totalMs <= limits.cpuMs) return
    // Nobody waits for what was started at load: it ends here, and the sandbox goes on.
    if (dispatch === 0) spentMs.delete(0)
    else breakDown(new Error(timedOut), dispatch)
  }

  function transfer(body: Uint8Array): ivm.Copy<ArrayBuffer> {
    const copy = body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength) as ArrayBuffer
    return new engine.ExternalCopy(copy, { transferOut: true }).copyInto({ release: true, transferIn: true })
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

  function log(dispatch: number, level: LogLevel, text: string): void {
    reports.post(dispatch, JSON.stringify({ kind: 'log', dispatch, level, text } satisfies GuestPost))
  }

  /** A guest that was stopped in mid-flight has lost its invariants: the isolate is not used again. */
  function breakDown(failure: unknown, dispatch: number): void {
    const message = messageOf(failure)
    const reason: BrokenReason =
      message === timedOut
        ? 'cpu_limit'
        : isolate.isDisposed || /memory limit/.test(message)
          ? 'memory_limit'
          : 'crashed'
    close()
    reports.broken(reason, dispatch, message.slice(0, 500))
  }

  /** Called by the guest. Nothing may be thrown back: an error of this side would carry its paths across. */
  function onPost(text: unknown, bytes: unknown): void {
    try {
      posts.push(text, bytes)
    } catch {
      // Too deep in the guest's stack even for that.
    }
  }

  function handlePost(text: string, body: Uint8Array | undefined): void {
    const post = JSON.parse(text) as GuestPost
    switch (post.kind) {
      case 'timer':
        return timers.start(running, post.id, post.delayMs)
      case 'clear-timer':
        return timers.clear(post.id)
      case 'call':
        if (text.length + sizeOf(body) > limits.bodyBytes) return refuseLargeCall(post.id)
        if (post.name.startsWith('crypto.')) return answerCrypto(post.id, post.name, post.args, body)
        return reports.post(running, text, body)
      case 'answer':
        if (text.length + sizeOf(body) > limits.bodyBytes) return reports.tooLarge(post.id)
        if (post.done) spentMs.delete(post.id)
        return reports.post(post.id, text, body)
      case 'done':
        spentMs.delete(post.id)
        return reports.post(post.id, text)
      default:
        return reports.post(running, text, body)
    }
  }

  function refuseLargeCall(id: number): void {
    const message = `A call with more than ${limits.bodyBytes} bytes (SANDBOX_BODY_BYTES).`
    const dispatch = running
    setImmediate(() =>
      enterWith(dispatch, { kind: 'settle', id, ok: false, error: { name: 'body_too_large', message } }),
    )
  }

  function answerCrypto(id: number, name: string, args: unknown, body: Uint8Array | undefined): void {
    const dispatch = running
    crypto.start({ dispatch, name, args, bytes: body?.buffer as ArrayBuffer | undefined }, (answer) => {
      if (!answer.ok) return enterWith(dispatch, { kind: 'settle', id, ok: false, error: answer.error })
      enterWith(dispatch, { kind: 'settle', id, ok: true, value: answer.value }, answer.bytes)
    })
  }

  function enterWith(dispatch: number, message: GuestMessage, body: Uint8Array = new Uint8Array(0)): void {
    enter(dispatch, JSON.stringify(message), body)
  }

  function close(): void {
    open = false
    timers.clearAll()
    crypto.close()
    if (!isolate.isDisposed) isolate.dispose()
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const sizeOf = (body: Uint8Array | undefined): number => body?.byteLength ?? 0
