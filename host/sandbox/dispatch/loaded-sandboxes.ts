import type { FrameToWrite } from '../../../runtime/process/frame.ts'
import { type LoadOptions, toProcess } from '../../../runtime/process/messages.ts'
import type { SandboxTarget } from '../target.ts'

export type LoadedSandboxes = {
  /**
   * The number of the target's sandbox, which is loaded first when it is not there, and that of the environment in it.
   * It is in use until `release`.
   */
  use: (target: SandboxTarget, environment: string) => { sandbox: number; environment: number }
  release: (sandbox: number) => void
  drop: (sandbox: number) => void
  /** Drops a sandbox whose script could not be loaded, and remembers for a while that it cannot. */
  fail: (sandbox: number, error: Error) => void
  recentFailure: (target: SandboxTarget) => Error | undefined
  target: (sandbox: number) => SandboxTarget | undefined
  /** Makes room: ends the part of the idle ones that was used least recently. @returns how many */
  evict: (part: number) => number
  count: () => number
}

type Entry = {
  number: number
  target: SandboxTarget
  version: string
  /** Dispatches that have it in use. */
  uses: number
  /** When it was asked for last, in uses of the process. */
  usedAt: number
  /** Environments that it has been given, by their text. */
  environments: Map<string, number>
  isRetired: boolean
}

const maxFailures = 200
/** A script that fails while it is loaded, slowly, would take its time from the others at each request. */
const failureMs = 2_000
/** An installation, its sites and its spaces: each has an environment of its own. */
const maxEnvironments = 16

/** Which sandboxes a process holds: one for each installation, of the version that was asked for last. */
export function createLoadedSandboxes(
  send: (frame: FrameToWrite) => void,
  limits: Omit<LoadOptions, 'file'>,
): LoadedSandboxes {
  const byKey = new Map<string, Entry>()
  const byNumber = new Map<number, Entry>()
  const failures = new Map<string, { error: Error; untilMs: number }>()
  let lastNumber = 0
  let uses = 0
  return {
    use(target, environment) {
      const found = byKey.get(target.key)
      const isCurrent = found !== undefined && found.version === target.version.digest
      // An older version finishes what it has begun; it gets no further dispatch.
      if (found !== undefined && !isCurrent) retire(found)
      const entry = isCurrent ? found : load(target)
      uses += 1
      entry.uses += 1
      entry.usedAt = uses
      return { sandbox: entry.number, environment: environmentOf(entry, environment) }
    },
    release(sandbox) {
      const entry = byNumber.get(sandbox)
      if (entry === undefined) return
      entry.uses -= 1
      if (entry.isRetired && entry.uses === 0) unload(entry)
    },
    drop,
    fail(sandbox, error) {
      const entry = byNumber.get(sandbox)
      if (failures.size >= maxFailures) failures.clear()
      if (entry !== undefined) {
        failures.set(nameOf(entry.target), { error, untilMs: performance.now() + failureMs })
      }
      drop(sandbox)
    },
    recentFailure(target) {
      if (failures.size === 0) return undefined
      const failure = failures.get(nameOf(target))
      return failure !== undefined && failure.untilMs > performance.now() ? failure.error : undefined
    },
    target: (sandbox) => byNumber.get(sandbox)?.target,
    evict(part) {
      const idle = [...byKey.values()].filter((entry) => entry.uses === 0)
      const evicted = idle.sort((a, b) => a.usedAt - b.usedAt).slice(0, Math.ceil(byKey.size * part))
      for (const entry of evicted) {
        byKey.delete(entry.target.key)
        unload(entry)
      }
      return evicted.length
    },
    count: () => byNumber.size,
  }

  function load(target: SandboxTarget): Entry {
    lastNumber += 1
    const entry: Entry = {
      number: lastNumber,
      target,
      version: target.version.digest,
      uses: 0,
      usedAt: 0,
      environments: new Map(),
      isRetired: false,
    }
    byNumber.set(lastNumber, entry)
    byKey.set(target.key, entry)
    const options: LoadOptions = { file: `annex:${target.integration}`, ...limits }
    send({
      type: toProcess.load,
      sandbox: lastNumber,
      text: JSON.stringify(options),
      body: target.version.code,
    })
    return entry
  }

  function environmentOf(entry: Entry, text: string): number {
    const known = entry.environments.get(text)
    if (known !== undefined) return known
    // Tokens in it are renewed: an old text is not seen again, and its place is taken.
    if (entry.environments.size >= maxEnvironments) entry.environments.clear()
    const number = entry.environments.size
    entry.environments.set(text, number)
    send({ type: toProcess.environment, sandbox: entry.number, number, text })
    return number
  }

  function drop(sandbox: number): void {
    const entry = byNumber.get(sandbox)
    byNumber.delete(sandbox)
    if (entry !== undefined && byKey.get(entry.target.key) === entry) byKey.delete(entry.target.key)
  }

  function retire(entry: Entry): void {
    entry.isRetired = true
    if (entry.uses === 0) unload(entry)
  }

  function unload(entry: Entry): void {
    byNumber.delete(entry.number)
    send({ type: toProcess.unload, sandbox: entry.number })
  }
}

const nameOf = ({ key, version }: SandboxTarget): string => `${key}@${version.digest}`
