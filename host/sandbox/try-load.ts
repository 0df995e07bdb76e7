import type { PlainError } from '../../runtime/bridge.ts'
import type { Frame } from '../../runtime/process/frame.ts'
import { type LoadOptions, toHost, toProcess } from '../../runtime/process/messages.ts'
import type { LoadFailure, Tried, TryLoad } from '../versions/try-version.ts'
import { createConnection, parseBroken, parseError, parseResult, pieceBytes } from './process/connection.ts'
import { readCompetition } from './process/proc.ts'
import type { PlatformSource } from './process/snapshot.ts'
import { type StartOptions, startProcess } from './process/start-process.ts'
import { watchProcess } from './process/watch-process.ts'
import { type EndCause, loadLimitError, starved, starvedError, timedOut } from './sandbox-errors.ts'
import type { SandboxLimits } from './sandbox-options.ts'

type Limits = Pick<
  SandboxLimits,
  'heapMb' | 'residentMb' | 'cpuMs' | 'loadMs' | 'wallMs' | 'timers' | 'allowEval'
>

/** A description takes a millisecond. A script may keep its answer back for ever. Time without a processor does not count. */
const describeMs = 5_000
const describeMessage = JSON.stringify({ event: { type: 'annex_describe' } })
/** `isStarved`: the machine was too busy, and the script may be a good one. */
type Outcome = Tried & { isStarved?: boolean }
const unknown: Outcome = { events: [] }

/** The only sandbox of its process. */
const sandbox = 1
const maxTries = 3

/** Loads each bundle in a sandbox process of its own, without host calls, and ends the process. */
export function createTryLoad(given: {
  platform: PlatformSource
  limits: Limits
  start: StartOptions
}): TryLoad {
  const { platform, limits } = given
  return async (integration, code) => {
    for (let tries = 1; ; tries += 1) {
      const { isStarved, ...tried } = await loadOnce(integration, code)
      if (!isStarved || tries === maxTries) return tried
    }
  }

  async function loadOnce(integration: string, code: string): Promise<Outcome> {
    let isLoaded = false
    let describedMs = 0
    let errorOutput = ''
    let cause: EndCause = { kind: 'died' }
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    const started = startProcess((text) => {
      errorOutput ||= text.slice(0, 500)
    }, given.start)
    const { send } = createConnection(started.stream, {
      handleFrame,
      onGarbage: () => started.kill(),
    })
    const watch = watchProcess(started, limits, {
      ping,
      onStuck() {},
      onResident() {},
      onTick(servedMs) {
        if (isLoaded) describedMs += servedMs
        if (describedMs > describeMs) resolve(unknown)
      },
      onOver(found) {
        cause = found
        started.kill()
      },
    })
    started.stream.on('error', () => started.kill())
    started.exited.then((signal) =>
      resolve(
        isLoaded
          ? unknown
          : { failure: { message: explainEnd(cause, signal, errorOutput, limits) }, events: [] },
      ),
    )
    const { cpuMs, loadMs, wallMs, timers, allowEval = false } = limits
    const file = `annex:${integration}`
    const options: LoadOptions = { file, cpuMs, loadMs, wallMs, timers, allowEval, pieceBytes }
    send({ type: toProcess.platform, number: limits.heapMb, ...platform })
    // Before the script: the ping tells how much wall time its CPU time takes on this machine.
    ping()
    send({ type: toProcess.load, sandbox, text: JSON.stringify(options), body: code })
    try {
      return await promise
    } finally {
      watch.stop()
      started.kill()
      await started.exited
      started.close()
    }

    function ping(): void {
      send({ type: toProcess.ping, number: Math.round(readCompetition() * 100) })
    }

    function handleFrame(frame: Frame): void {
      if (frame.type === toHost.pong) watch.pong()
      if (frame.type === toHost.loadFailed) resolve(toFailed(frame.text, limits))
      if (frame.type === toHost.loaded) describe()
      if (frame.type === toHost.answer) resolve({ events: parseEvents(frame.text) })
      if (frame.type === toHost.broken)
        resolve({ ...unknown, isStarved: parseBroken(frame.text).reason === 'starved' })
    }

    /** Asks the SDK which events have a handler. A script may break that: then no event is known. */
    function describe(): void {
      isLoaded = true
      send({ type: toProcess.environment, sandbox, number: 0, text: '{}' })
      send({ type: toProcess.dispatch, sandbox, dispatch: 1, number: 0, text: describeMessage })
    }
  }
}

/** The script can choose the answer: other values than a list of names count as no events. */
function parseEvents(text: string): string[] {
  const result = parseResult(text)
  const value = result?.kind === 'value' ? result.value : undefined
  const events = value !== null && typeof value === 'object' && 'events' in value ? value.events : []
  return Array.isArray(events) ? events.filter((name) => typeof name === 'string') : []
}

function toFailed(text: string, limits: Limits): Outcome {
  const error = parseError(text) ?? { name: 'Error', message: 'unknown reason' }
  return { failure: toFailure(error, limits), events: [], isStarved: error.message === starved }
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
