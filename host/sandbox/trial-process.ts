import type { PlainError } from '../../runtime/bridge.ts'
import type { Frame } from '../../runtime/process/frame.ts'
import { type LoadOptions, toHost, toProcess } from '../../runtime/process/messages.ts'
import type { LoadFailure, Tried } from '../versions/try-version.ts'
import { createConnection, parseBroken, parseError, parseResult, pieceBytes } from './process/connection.ts'
import { readCompetition } from './process/proc.ts'
import type { PlatformSource } from './process/snapshot.ts'
import type { StartProcess } from './process/start-process.ts'
import { watchProcess } from './process/watch-process.ts'
import { type EndCause, loadLimitError, starved, starvedError, timedOut } from './sandbox-errors.ts'
import type { SandboxLimits } from './sandbox-options.ts'

type Limits = Pick<
  SandboxLimits,
  'heapMb' | 'residentMb' | 'cpuMs' | 'loadMs' | 'wallMs' | 'timers' | 'allowEval'
>

export type TrialOptions = { platform: PlatformSource; limits: Limits; start: StartProcess }

/**
 * `isSure`: no earlier version of the process can have caused the outcome, as when the script itself threw or answered.
 * `isStarved`: the machine was too busy, and the script may be a good one.
 */
export type Outcome = Tried & { isSure?: boolean; isStarved?: boolean }

/** One process that tries versions of one publisher, one after the other. */
export type TrialProcess = {
  /** Resolves when the version was tried. Call it again only then. */
  tryOne: (integration: string, code: string) => Promise<Outcome>
  /** How many versions it has begun to try. */
  begun: () => number
  /** False after the process has ended, or got an order to. */
  isUsable: () => boolean
  end: () => Promise<void>
}

/** A description takes a millisecond. A script may keep its answer back for ever. Time without a processor does not count. */
const describeMs = 5_000
const describeMessage = JSON.stringify({ event: { type: 'annex_describe' } })
const unknown: Outcome = {}

type Trial = { isLoaded: boolean; describedMs: number; settle: (outcome: Outcome) => void }

/** Starts a sandbox process without host calls. */
export function startTrialProcess({ platform, limits, start }: TrialOptions): TrialProcess {
  let begun = 0
  let current: Trial | undefined
  let isUsable = true
  let errorOutput = ''
  let cause: EndCause = { kind: 'died' }
  const started = start((text) => {
    errorOutput ||= text.slice(0, 500)
  })
  const { send } = createConnection(started.stream, { handleFrame, onGarbage: kill })
  const watch = watchProcess(started, limits, {
    ping,
    onStuck() {},
    onResident() {},
    onTick(servedMs) {
      if (!current?.isLoaded) return
      current.describedMs += servedMs
      if (current.describedMs <= describeMs) return
      // Its answer may still come, among those of the next version.
      kill()
      current.settle(unknown)
    },
    onOver(found) {
      cause = found
      kill()
    },
  })
  started.stream.on('error', kill)
  const ended = started.exited.then((signal) => {
    isUsable = false
    watch.stop()
    started.close()
    const message = explainEnd(cause, signal, errorOutput, limits)
    current?.settle(current.isLoaded ? unknown : { failure: { message } })
  })
  send({ type: toProcess.platform, number: limits.heapMb, ...platform })
  // Before the first script: the ping tells how much wall time its CPU time takes on this machine.
  ping()
  return {
    tryOne,
    begun: () => begun,
    isUsable: () => isUsable,
    end() {
      kill()
      return ended
    },
  }

  async function tryOne(integration: string, code: string): Promise<Outcome> {
    const { promise, resolve: settle } = Promise.withResolvers<Outcome>()
    begun += 1
    const sandbox = begun
    current = { isLoaded: false, describedMs: 0, settle }
    const { cpuMs, loadMs, wallMs, timers, allowEval = false } = limits
    const options: LoadOptions = {
      file: `annex:${integration}`,
      cpuMs,
      loadMs,
      wallMs,
      timers,
      allowEval,
      pieceBytes,
    }
    send({ type: toProcess.load, sandbox, text: JSON.stringify(options), body: code })
    try {
      return await promise
    } finally {
      current = undefined
      send({ type: toProcess.unload, sandbox })
    }
  }

  function kill(): void {
    isUsable = false
    started.kill()
  }

  function ping(): void {
    send({ type: toProcess.ping, number: Math.round(readCompetition() * 100) })
  }

  function handleFrame(frame: Frame): void {
    if (frame.type === toHost.pong) watch.pong()
    // After a long stretch the process begins nothing before this answer.
    if (frame.type === toHost.stuck) send({ type: toProcess.goOn })
    // A frame of a version that was tried before.
    if (current === undefined || frame.sandbox !== begun) return
    if (frame.type === toHost.loadFailed) current.settle(toFailed(frame.text, limits))
    if (frame.type === toHost.loaded) describe(current)
    if (frame.type === toHost.answer) current.settle({ ...parseDescription(frame.text), isSure: true })
    if (frame.type === toHost.broken) {
      current.settle({ ...unknown, isStarved: parseBroken(frame.text).reason === 'starved' })
    }
  }

  /** Asks the SDK which events have a handler, and which ids are defined. A script may break that: then nothing is known. */
  function describe(trial: Trial): void {
    trial.isLoaded = true
    send({ type: toProcess.environment, sandbox: begun, number: 0, text: '{}' })
    send({
      type: toProcess.dispatch,
      sandbox: begun,
      dispatch: begun,
      number: 0,
      text: describeMessage,
    })
  }
}

/** The script can choose the answer: with another value than lists of names nothing is known. */
function parseDescription(text: string): Pick<Tried, 'events' | 'ids'> {
  const result = parseResult(text)
  const value = result?.kind === 'value' ? Object(result.value) : {}
  const [events, components, contentSources] = [value.events, value.components, value.contentSources]
  return {
    ...(isNames(events) && { events }),
    ...(isIds(components) &&
      isIds(contentSources) && { ids: { component: components, contentSource: contentSources } }),
  }
}

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string')

/** The host compares each id with those of the manifest, so their number and length are bounded. */
const isIds = (value: unknown): value is string[] =>
  isNames(value) && value.length <= 1_000 && value.every(({ length }) => length <= 200)

function toFailed(text: string, limits: Limits): Outcome {
  const error = parseError(text) ?? { name: 'Error', message: 'unknown reason' }
  const isThrown = error.message !== timedOut && error.message !== starved
  return {
    failure: toFailure(error, limits),
    isSure: isThrown,
    isStarved: error.message === starved,
  }
}

function toFailure({ name, message, stack }: PlainError, limits: Limits): LoadFailure {
  if (message === timedOut) return { message: loadLimitError(limits).message }
  if (message === starved) return { message: starvedError().message }
  return { message: name === 'Error' ? message : `${name}: ${message}`, ...(stack && { stack }) }
}

function explainEnd(
  { kind }: EndCause,
  signal: NodeJS.Signals | undefined,
  errorOutput: string,
  limits: Limits,
): string {
  if (kind === 'cpu_limit') return loadLimitError(limits).message
  // SIGKILL without the host comes from the process itself or from the kernel: both mean memory.
  if (kind === 'memory_limit' || (kind === 'died' && signal === 'SIGKILL')) {
    return `The script used more memory than there is for its sandbox process (SANDBOX_HEAP_MB ${limits.heapMb}, SANDBOX_RESIDENT_MB ${limits.residentMb}).`
  }
  // The system gives no further process.
  if (errorOutput.startsWith('not started')) {
    return `No sandbox process could be started: ${errorOutput.trim()}`
  }
  return `Its sandbox process ended while it was loaded (${signal ?? 'without a signal'}).`
}
