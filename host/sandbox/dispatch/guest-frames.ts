import { Readable } from 'node:stream'
import type { LogLevel } from '../../../runtime/bridge.ts'
import type { Frame } from '../../../runtime/process/frame.ts'
import { parseCall, toHost, withStream } from '../../../runtime/process/messages.ts'
import { answered, bodyStream, logLevels } from '../../../runtime/wire-kinds.ts'
import type { HostCallBody, HostCalls } from '../host-calls.ts'
import { parseResult, toUsage } from '../process/connection.ts'
import { answerTooLargeError, bodyBrokeOffError, limitOf } from '../sandbox-errors.ts'
import type { LogSource, OnLimit, SandboxLimits, ScriptLog } from '../sandbox-options.ts'
import { installationOf } from '../target.ts'
import { answerCall } from './answer-call.ts'
import { isAnswered, type LiveDispatch, type LiveDispatches } from './live-dispatches.ts'
import type { LoadedSandboxes } from './loaded-sandboxes.ts'
import type { ToSandbox } from './to-sandbox.ts'

const maxLogText = 16_384
const nothing = new Uint8Array(0)
const types: ReadonlySet<number> = new Set(Object.values(toHost))
/** A process loads and ends sandboxes as long as it lives: counts of ended ones are dropped above this many. */
const maxStray = 1_000

/**
 * Handles the frames of guests: answers, calls, log lines, and pieces of streams.
 *
 * @returns a function that returns false for a frame that the prelude never posts. The prelude runs beside the script, so
 *   that breaks one sandbox and not its neighbours. It throws an Error when the process names a dispatch of another sandbox.
 */
export function createGuestFrames(given: {
  lives: LiveDispatches
  sandboxes: LoadedSandboxes
  limits: SandboxLimits
  hostCalls: HostCalls
  onLog: ScriptLog
  onLimit: OnLimit
  toSandbox: ToSandbox
}): (frame: Frame) => boolean {
  const { lives, sandboxes, limits, hostCalls, onLog, toSandbox } = given
  /** Counts of log lines outside of any dispatch, by sandbox: a script may log while it is loaded, and is bounded. */
  const strayLines = new Map<number, number>()
  return (frame) => {
    const live = find(frame)
    if (frame.type === toHost.log) return log(live, frame)
    if (live === undefined) {
      if (!types.has(frame.type)) throw noSuchType(frame)
      if (frame.type === toHost.call) toSandbox.refuse(frame)
      return true
    }
    switch (frame.type) {
      case toHost.answer:
        return answer(live, frame)
      case toHost.tooLarge:
        return refuseAnswer(live)
      case toHost.done:
        lives.end(live, toUsage(frame))
        return true
      case toHost.call:
        return call(live, frame)
      case toHost.abort:
        live.running?.get(frame.number)?.abort()
        return true
      case toHost.pull:
        live.sources?.get(frame.number)?.pull()
        return true
      case toHost.cancel:
        live.sources?.get(frame.number)?.close()
        return true
      case toHost.chunk:
        return chunk(live, frame)
      case toHost.end:
        live.sinks?.get(frame.number)?.end()
        return closeSink(live, frame.number)
      case toHost.fail:
        return fail(live, frame)
      default:
        throw noSuchType(frame)
    }
  }

  /** @throws Error when the frame names a dispatch of another sandbox */
  function find({ sandbox, dispatch }: Frame): LiveDispatch | undefined {
    const live = lives.get(dispatch)
    if (live !== undefined && live.sandbox !== sandbox) throw new Error('post for another sandbox')
    return live
  }

  function answer(live: LiveDispatch, frame: Frame): boolean {
    if (isAnswered(live)) return true
    const result = parseResult(frame.text)
    if (result === undefined || frame.flags > answered.streams) return false
    const isStream = frame.flags === answered.streams
    if (result.kind === 'response' && (result.head.length ?? 0) > limits.bodyBytes) return refuseAnswer(live)
    const refused = result.kind === 'error' ? limitOf(result.error, limits) : undefined
    // The log gets the position in the script. The visitor does not.
    if (refused !== undefined && result.kind === 'error')
      onLog(live.queued.context, 'error', result.error.stack ?? result.error.message)
    live.outcome = refused?.code ?? (result.kind === 'error' ? 'script_error' : 'ok')
    live.status = result.kind === 'response' ? result.head.status : undefined
    const body = isStream ? toSandbox.openSink(live, bodyStream, false) : frame.body
    finishAnswer(live)
    if (frame.flags === answered.done) lives.end(live, toUsage(frame))
    else grant(live, isStream ? limits.wallMs : limits.waitUntilMs)
    if (refused === undefined) live.queued.resolve({ result, body })
    else live.queued.reject(refused)
    return true
  }

  /** The request is not needed after the answer: its memory is freed. */
  function finishAnswer(live: LiveDispatch): void {
    live.answeredMs = performance.now()
    live.queued.message = ''
    if (live.queued.body instanceof Uint8Array) live.queued.body = nothing
  }

  function refuseAnswer(live: LiveDispatch): boolean {
    if (isAnswered(live)) return true
    const error = answerTooLargeError(limits)
    live.outcome = error.code
    finishAnswer(live)
    grant(live, limits.waitUntilMs)
    live.queued.reject(error)
    return true
  }

  function call(live: LiveDispatch, frame: Frame): boolean {
    const asked = parseCall(frame.text)
    if (asked === undefined) return false
    const isEgress = hostCalls.isEgress(asked)
    const body: HostCallBody =
      frame.flags === withStream ? toSandbox.openSink(live, frame.number, isEgress) : frame.body
    void answerCall(
      live,
      { id: frame.number, ...asked, body, isEgress },
      {
        limits,
        onLimit: given.onLimit,
        runCall: hostCalls.run,
        settle(settled) {
          const isOver = lives.get(live.id) !== live
          // A failed call reads no more of its body, and an answer without its dispatch has no reader.
          if (!settled.ok && body instanceof Readable) body.destroy()
          if (isOver && settled.ok && settled.body instanceof Readable) settled.body.destroy()
          if (!isOver) toSandbox.answer(live, frame.number, settled, isEgress)
          else if (!settled.ok && live.outcome === 'ok')
            logOf(live, live.queued.context, 'warn', stoppedCall(asked.name))
        },
      },
    )
    return true
  }

  function chunk(live: LiveDispatch, frame: Frame): boolean {
    const sink = live.sinks?.get(frame.number)
    if (sink === undefined) return true
    // Only the answer's body renews the time limit: a slow remote server would keep a dispatch alive for ever.
    if (frame.number === bodyStream) live.movedMs = performance.now()
    else if (sink.isEgress) live.egressBytes += frame.body.byteLength
    return sink.chunk(frame.body)
  }

  /** The reader sees that the body is incomplete. The reason is the script's text, and goes to its log alone. */
  function fail(live: LiveDispatch, { number, text }: Frame): boolean {
    if (text.length > maxLogText) return false
    const sink = live.sinks?.get(number)
    if (sink === undefined) return true
    if (number === bodyStream) {
      live.outcome = 'script_error'
      logOf(live, live.queued.context, 'error', `The answer was broken off. Its stream failed: ${text}`)
    }
    sink.fail(bodyBrokeOffError())
    return closeSink(live, number)
  }

  function closeSink(live: LiveDispatch, stream: number): boolean {
    live.sinks?.delete(stream)
    if (stream === bodyStream && isAnswered(live)) grant(live, limits.waitUntilMs)
    return true
  }

  function log(live: LiveDispatch | undefined, frame: Frame): boolean {
    const level = logLevels[frame.number]
    if (level === undefined || frame.text.length > maxLogText) return false
    // The sandbox was unloaded, or never existed.
    if (sandboxes.target(frame.sandbox) === undefined) return true
    const source = sourceOf(live, frame.sandbox)
    if (live !== undefined) logOf(live, source, level, frame.text)
    else if (countStray(frame.sandbox) <= limits.logLines) onLog(source, level, frame.text)
    return true
  }

  function countStray(sandbox: number): number {
    if (strayLines.size > maxStray) {
      for (const number of strayLines.keys())
        if (sandboxes.target(number) === undefined) strayLines.delete(number)
    }
    const lines = (strayLines.get(sandbox) ?? 0) + 1
    strayLines.set(sandbox, lines)
    return lines
  }

  function logOf(live: LiveDispatch, source: LogSource | undefined, level: LogLevel, text: string): void {
    if (live.logLines > limits.logLines || live.logBytes > limits.logBytes) return
    live.logLines += 1
    live.logBytes += Buffer.byteLength(text)
    const isLong = live.logLines > limits.logLines
    if (!isLong && live.logBytes <= limits.logBytes) return onLog(source, level, text)
    const over = isLong
      ? `${limits.logLines} lines in one dispatch (SANDBOX_LOG_LINES)`
      : `${limits.logBytes} bytes in one dispatch (SANDBOX_LOG_BYTES)`
    onLog(source, 'warn', `More than ${over}: the other lines are dropped.`)
    given.onLimit(live.queued.context.integration, isLong ? 'log_lines' : 'log_size')
  }

  function sourceOf(live: LiveDispatch | undefined, sandbox: number): LogSource | undefined {
    const target = sandboxes.target(sandbox)
    if (live !== undefined) return live.queued.context
    if (target === undefined) return undefined
    const { integration, version } = target
    return { integration, version: version.digest, ...installationOf(target) }
  }
}

/** Code of a dispatch does not run after its end, and hears of no failure: the log has it. */
const stoppedCall = (name: string): string =>
  `The script had answered while its ${name} was still under way, so that was stopped. Await it, or give its promise to waitUntil.`

/** The time limit of a dispatch, from now on. */
function grant(live: LiveDispatch, ms: number): void {
  live.patienceMs = ms
  live.movedMs = performance.now()
}

const noSuchType = ({ type }: Frame): Error => new Error(`frame of type ${type}, which is unknown`)
