import { LRUCache } from 'lru-cache'
import type { FrameToWrite } from '../../../runtime/process/frame.ts'
import { type LoadOptions, toProcess } from '../../../runtime/process/messages.ts'
import { pieceBytes } from '../process/connection.ts'
import type { SandboxLimits } from '../sandbox-options.ts'
import type { SandboxTarget } from '../target.ts'

export type LoadedSandboxes = {
  /**
   * Loads the target and the environment where they are not loaded yet.
   *
   * @returns the numbers of the sandbox, which is in use until `release`, and of the environment in it
   */
  load: (target: SandboxTarget, environment: string) => { sandbox: number; environment: number }
  /** The sandbox has loaded its script. @returns false where it was not being loaded */
  settle: (sandbox: number) => boolean
  isLoaded: (target: SandboxTarget) => boolean
  /** True while few scripts are being loaded, and there is memory for one more. */
  mayLoad: (residentBytes: number) => boolean
  release: (sandbox: number) => void
  drop: (sandbox: number) => void
  /** Drops a sandbox whose script failed to load, and remembers the error for a while. */
  fail: (sandbox: number, error: Error) => void
  recentFailure: (target: SandboxTarget) => Error | undefined
  target: (sandbox: number) => SandboxTarget | undefined
  /**
   * From 60 % of the memory limit on, ends the sandboxes that were idle for longest.
   *
   * @param isAwaited scripts wait to be loaded: more sandboxes are ended in the same time
   * @returns `recycle` where a fresh process should replace this one: that did not help, or too many have gone
   */
  evictFor: (residentBytes: number, isAwaited: boolean) => 'recycle' | undefined
  count: () => number
}

type Entry = {
  number: number
  target: SandboxTarget
  version: string
  /** How many dispatches use it. */
  uses: number
  /** When it was loaded or used last, as a count of uses in the process. */
  usedAt: number
  /** Numbers of the environments that were sent to it, by their text. */
  environments: LRUCache<string, number>
  isRetired: boolean
}

const mib = 1024 * 1024
const maxFailures = 200
/** Loading a slow script that fails, again at each request, would take the CPU time of the others. */
const failureMs = 2_000
/** An installation, its sites and its spaces: each has an environment of its own. */
const maxEnvironments = 16

const evictFromPercent = 60
const recycleFromPercent = 75
/** Evicted sandboxes give their memory back late, and not all of it: eviction pauses for so long. */
const evictEveryMs = 500
const evictAwaitedEveryMs = 100
const evictPart = 0.25
/** So many loaded sandboxes fill the process together: no single script does. */
const crowd = 32
/** One script is being loaded, and the next one has arrived. Dispatches wait behind both. */
const loadsAtOnce = 2
/** V8 keeps about a megabyte of each isolate that has gone. */
const maxEvicted = 600

/** The sandboxes of a process: one for each installation, of the version that was dispatched to last. */
export function createLoadedSandboxes(
  send: (frame: FrameToWrite) => void,
  limits: Pick<
    SandboxLimits,
    'cpuMs' | 'loadMs' | 'wallMs' | 'timers' | 'allowEval' | 'heapMb' | 'residentMb'
  >,
): LoadedSandboxes {
  const byKey = new Map<string, Entry>()
  const byNumber = new Map<number, Entry>()
  const failures = new LRUCache<string, Error>({ max: maxFailures, ttl: failureMs, ttlResolution: 0 })
  /** Numbers of sandboxes whose script is being loaded. */
  const loading = new Set<number>()
  let lastNumber = 0
  let uses = 0
  let evictedAtMs = performance.now()
  let evicted = 0
  let lastEvicted = 0
  return {
    load(target, environment) {
      const found = byKey.get(target.key)
      const isCurrent = found !== undefined && found.version === target.version.digest
      // The sandbox of an older version finishes its dispatches, and gets no further one.
      if (found !== undefined && !isCurrent) retire(found)
      const entry = isCurrent ? found : loadAnew(target)
      uses += 1
      entry.uses += 1
      entry.usedAt = uses
      return { sandbox: entry.number, environment: environmentOf(entry, environment) }
    },
    settle: (sandbox) => loading.delete(sandbox),
    isLoaded: ({ key, version }) => byKey.get(key)?.version === version.digest,
    mayLoad(residentBytes) {
      if (loading.size >= loadsAtOnce) return false
      // A script that is being loaded may take all of its heap.
      const loadedBytes = residentBytes + (loading.size + 1) * limits.heapMb * mib
      if (percentOf(residentBytes) < recycleFromPercent && loadedBytes < limits.residentMb * mib) return true
      // No sandbox in use could give memory back.
      return [...byNumber.values()].every(({ uses }) => uses === 0)
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
      if (entry !== undefined) failures.set(nameOf(entry.target), error)
      drop(sandbox)
    },
    recentFailure(target) {
      return failures.size === 0 ? undefined : failures.get(nameOf(target))
    },
    target: (sandbox) => byNumber.get(sandbox)?.target,
    evictFor(residentBytes, isAwaited) {
      const percent = percentOf(residentBytes)
      if (percent >= recycleFromPercent && byNumber.size >= crowd) return 'recycle'
      const everyMs = isAwaited ? evictAwaitedEveryMs : evictEveryMs
      if (percent < evictFromPercent || performance.now() - evictedAtMs < everyMs) return undefined
      evictedAtMs = performance.now()
      if (evicted >= maxEvicted || (percent >= recycleFromPercent && lastEvicted === 0)) return 'recycle'
      lastEvicted = evictIdle()
      evicted += lastEvicted
      return undefined
    },
    count: () => byNumber.size,
  }

  function percentOf(residentBytes: number): number {
    return (residentBytes / (limits.residentMb * mib)) * 100
  }

  function evictIdle(): number {
    const idle = [...byKey.values()].filter((entry) => entry.uses === 0)
    const oldest = idle.sort((a, b) => a.usedAt - b.usedAt).slice(0, Math.ceil(byKey.size * evictPart))
    for (const entry of oldest) {
      byKey.delete(entry.target.key)
      unload(entry)
    }
    return oldest.length
  }

  function loadAnew(target: SandboxTarget): Entry {
    lastNumber += 1
    const entry: Entry = {
      number: lastNumber,
      target,
      version: target.version.digest,
      uses: 0,
      usedAt: 0,
      environments: new LRUCache({ max: maxEnvironments }),
      isRetired: false,
    }
    byNumber.set(lastNumber, entry)
    loading.add(lastNumber)
    byKey.set(target.key, entry)
    const { cpuMs, loadMs, wallMs, timers, allowEval = false } = limits
    const file = `annex:${target.integration}`
    const options: LoadOptions = { file, cpuMs, loadMs, wallMs, timers, allowEval, pieceBytes }
    send({
      type: toProcess.load,
      sandbox: lastNumber,
      text: JSON.stringify(options),
      body: target.version.code,
    })
    return entry
  }

  function environmentOf(entry: Entry, text: string): number {
    const { environments } = entry
    const known = environments.get(text)
    if (known !== undefined) return known
    // The new environment replaces the least recently used one in the sandbox, under its number.
    const replaced = environments.size >= maxEnvironments ? environments.pop() : undefined
    const number = replaced ?? environments.size
    environments.set(text, number)
    send({ type: toProcess.environment, sandbox: entry.number, number, text })
    return number
  }

  function drop(sandbox: number): void {
    const entry = byNumber.get(sandbox)
    byNumber.delete(sandbox)
    loading.delete(sandbox)
    if (entry !== undefined && byKey.get(entry.target.key) === entry) byKey.delete(entry.target.key)
  }

  function retire(entry: Entry): void {
    entry.isRetired = true
    if (entry.uses === 0) unload(entry)
  }

  function unload(entry: Entry): void {
    byNumber.delete(entry.number)
    loading.delete(entry.number)
    send({ type: toProcess.unload, sandbox: entry.number })
  }
}

const nameOf = ({ key, version }: SandboxTarget): string => `${key}@${version.digest}`
