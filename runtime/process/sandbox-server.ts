import type { Duplex } from 'node:stream'
import type ivm from 'isolated-vm'
import { message } from '../wire-kinds.ts'
import type { BlackBox } from './black-box.ts'
import { createCryptoTurns } from './crypto/crypto-turns.ts'
import { createFrameReader, createFrameWriter, type Frame } from './frame.ts'
import { createCpuClock } from './isolate/cpu-clock.ts'
import { describeGuestError } from './isolate/guest-stack.ts'
import { createIsolatePool, type IsolatePool } from './isolate/isolate-pool.ts'
import { createPlatform, openPlatform } from './isolate/platform.ts'
import { createSandbox, type Sandbox } from './isolate/sandbox.ts'
import { type LoadOptions, toHost, toProcess, withStream } from './messages.ts'

const maxFrameBytes = 128 * 1024 * 1024
const stuckMs = 40

export type SandboxServer = {
  /** Disposes of all isolates. No later frame is read or sent. */
  close: () => void
}

/**
 * Runs sandboxes for the host at the other end of a stream: loads scripts, gives them the host's frames, and sends theirs.
 *
 * @param given.onCatastrophe V8 cannot go on: the process must be killed at once
 */
export function createSandboxServer(given: {
  engine: typeof ivm
  stream: Duplex
  blackBox: BlackBox
  onCatastrophe: () => void
}): SandboxServer {
  const { engine, stream, blackBox } = given
  const out = createFrameWriter((bytes) => stream.write(bytes))
  const cpuClock = createCpuClock()
  const cryptoTurns = createCryptoTurns()
  const sandboxes = new Map<number, Sandbox>()
  let isolatePool: IsolatePool | undefined
  let begun = 0
  /** The sandbox whose frames wait to be flushed. */
  let unflushed = 0
  /** Frames after a long stretch: the host may have moved their dispatches to another process, and sends `goOn` when it has. */
  let deferredFrames: Frame[] | undefined
  /** One `goOn` for each `stuck` is still to come. The host sends `forget` for moved dispatches before the last one. */
  let pendingResumes = 0

  const read = createFrameReader(maxFrameBytes, receive)
  const readBatch = (chunk: Buffer): void => {
    read(chunk)
    endBatch()
  }
  stream.on('data', readBatch)
  return {
    close() {
      stream.off('data', readBatch)
      for (const sandbox of sandboxes.values()) sandbox.close()
      sandboxes.clear()
      isolatePool?.close()
    },
  }

  /**
   * Frames of an isolate are flushed before another isolate runs, which may end this process, and when no work is left.
   * In between they wait: fewer system calls.
   */
  function endBatch(): void {
    reportStuck(blackBox.leave())
    out.flush()
    isolatePool?.refill()
  }

  /**
   * Reports a long stretch: the host may have moved the dispatches behind it to another process. None begins before `goOn`.
   *
   * @returns whether the stretch was long
   */
  function reportStuck(ms: number): boolean {
    if (ms < stuckMs) return false
    deferredFrames ??= []
    pendingResumes += 1
    out.write({ type: toHost.stuck, number: Math.round(ms) })
    return true
  }

  function receive(frame: Frame): void {
    switch (frame.type) {
      case toProcess.platform:
        return start(frame)
      case toProcess.load:
        return load(frame)
      case toProcess.unload:
        sandboxes.get(frame.sandbox)?.close()
        sandboxes.delete(frame.sandbox)
        return
      case toProcess.ping:
        cpuClock.setCompetition(frame.number / 100)
        return out.write({ type: toHost.pong })
      case toProcess.forget:
        deferredFrames = deferredFrames?.filter(
          ({ dispatch }) => dispatch === 0 || dispatch !== frame.dispatch,
        )
        return forget(frame)
      case toProcess.goOn:
        return goOn()
      case toProcess.environment:
      case toProcess.dispatch:
      case toProcess.leave:
        if (deferredFrames === undefined) begin(frame)
        else deferredFrames.push(frame)
        return
      default:
        return deliver(frame)
    }
  }

  function begin(frame: Frame): void {
    const sandbox = sandboxes.get(frame.sandbox)
    if (sandbox === undefined) return
    // Before the black box notes it as begun: behind a long stretch the host may have moved it already.
    if (blackBox.seen() >= stuckMs && reportStuck(blackBox.leave())) {
      deferredFrames?.push(frame)
      return
    }
    if (frame.type === toProcess.environment) return sandbox.setEnvironment(frame)
    if (frame.type === toProcess.leave) return sandbox.deliver(message.leave, frame.dispatch, 0, frame)
    const kind = frame.flags === withStream ? message.dispatchWithStream : message.dispatch
    const before = begun
    // Reported with a sandbox that breaks, which may happen in this call.
    begun = frame.dispatch
    if (sandbox.begin(kind, frame)) return
    begun = before
    // If the process ends now, the dispatch runs in another one.
    blackBox.takeBack(before)
    deferredFrames?.push(frame)
  }

  function goOn(): void {
    // A second long stretch, of a timer, was reported: the host sent this `goOn` before it could know.
    pendingResumes -= 1
    if (pendingResumes > 0) return
    const frames = deferredFrames ?? []
    deferredFrames = undefined
    for (const frame of frames) {
      // One of these dispatches may have a long stretch itself.
      if (deferredFrames === undefined) begin(frame)
      else (deferredFrames as Frame[]).push(frame)
    }
  }

  /** Frames for a guest. */
  function deliver(frame: Frame): void {
    const { type, dispatch, number, flags } = frame
    const sandbox = sandboxes.get(frame.sandbox)
    switch (type) {
      case toProcess.settle:
        return sandbox?.deliver(message.settle, number, flags, frame)
      case toProcess.reject:
        return sandbox?.deliver(message.reject, number, 0, frame)
      case toProcess.chunk:
        return sandbox?.deliver(message.chunk, dispatch, number, frame)
      case toProcess.end:
        return sandbox?.deliver(message.end, dispatch, number, frame)
      case toProcess.fail:
        return sandbox?.deliver(message.fail, dispatch, number, frame)
      case toProcess.pull:
        return sandbox?.deliver(message.pull, dispatch, number, frame)
      case toProcess.cancel:
        return sandbox?.deliver(message.cancel, dispatch, number, frame)
    }
  }

  function start({ text, body, number: heapMb }: Frame): void {
    const platform = body.length > 0 ? openPlatform(engine, body) : createPlatform(engine, text)
    isolatePool = createIsolatePool(engine, platform, { heapMb, onCatastrophe: given.onCatastrophe })
    out.write({ type: toHost.ready, number: platform.snapshot === undefined ? 0 : 1 })
  }

  function load(frame: Frame): void {
    const number = frame.sandbox
    flushFor(number)
    reportStuck(blackBox.leave())
    try {
      if (isolatePool === undefined) throw new Error('load before platform')
      const sandbox = createSandbox({
        engine,
        spare: isolatePool.take(),
        number,
        bundle: frame.body.toString('utf8'),
        options: JSON.parse(frame.text) as LoadOptions,
        blackBox,
        cpuClock,
        cryptoTurns,
        reports: {
          send: out.write,
          beforeStretch: () => flushFor(number),
          afterOwnStretch: endBatch,
          reportStuck,
          broken(reason, dispatch, message, body) {
            sandboxes.delete(number)
            const text = `${reason}\n${message}`
            out.write({ type: toHost.broken, sandbox: number, dispatch, number: begun, text, body })
          },
        },
      })
      sandboxes.set(number, sandbox)
      out.write({ type: toHost.loaded, sandbox: number })
    } catch (error) {
      const text = JSON.stringify(describeGuestError(error))
      out.write({ type: toHost.loadFailed, sandbox: number, text })
    }
    reportStuck(blackBox.leave())
  }

  function forget({ sandbox, dispatch }: Frame): void {
    const used = sandboxes.get(sandbox)?.forget(dispatch)
    if (used !== undefined) out.write({ type: toHost.used, sandbox, dispatch, ...used })
  }

  /** Before code of this sandbox runs: frames of another one leave the process. */
  function flushFor(sandbox: number): void {
    if (unflushed === sandbox) return
    unflushed = sandbox
    out.flush()
  }
}
