import type { HostHeader } from '../../../runtime/process/messages.ts'
import type { SandboxTarget } from '../target.ts'

export type LoadedSandboxes = {
  /** The number of the target's sandbox, which is loaded first when it is not there. */
  use: (target: SandboxTarget) => number
  drop: (number: number) => void
  /** Drops a sandbox whose script could not be loaded, and remembers for a while that it cannot. */
  fail: (number: number, error: Error) => void
  recentFailure: (target: SandboxTarget) => Error | undefined
  target: (number: number) => SandboxTarget | undefined
  count: () => number
}

type Entry = { number: number; target: SandboxTarget; version: string; usedAt: number }

/** An isolate costs about 2.5 MB; the one that was used least recently makes room. */
const maxLoaded = 200
/** A script that fails while it is loaded, slowly, would take its time from the others at each request. */
const failureMs = 2_000
/** One that was in use a moment ago may still be at work, and is not taken. */
const restMs = 60_000

/** Which sandboxes a process holds: one for each installation, of the version that was asked for last. */
export function createLoadedSandboxes(
  send: (header: HostHeader, text?: string) => void,
  limits: { heapMb: number; cpuMs: number; bodyBytes: number },
): LoadedSandboxes {
  const byKey = new Map<string, Entry>()
  const byNumber = new Map<number, Entry>()
  const failures = new Map<string, { error: Error; untilMs: number }>()
  let lastNumber = 0
  const drop = (number: number) => {
    const entry = byNumber.get(number)
    byNumber.delete(number)
    if (entry !== undefined && byKey.get(entry.target.key) === entry) byKey.delete(entry.target.key)
  }
  return {
    use(target) {
      const found = byKey.get(target.key)
      if (found !== undefined && found.version === target.version.digest) {
        found.usedAt = performance.now()
        return found.number
      }
      // An older version finishes what it has begun; it gets no further dispatch.
      if (found !== undefined) retire(found)
      return load(target).number
    },
    drop,
    fail(number, error) {
      const entry = byNumber.get(number)
      if (failures.size >= maxLoaded) failures.clear()
      if (entry !== undefined)
        failures.set(nameOf(entry.target), { error, untilMs: performance.now() + failureMs })
      drop(number)
    },
    recentFailure(target) {
      const failure = failures.get(nameOf(target))
      return failure !== undefined && failure.untilMs > performance.now() ? failure.error : undefined
    },
    target: (number) => byNumber.get(number)?.target,
    count: () => byNumber.size,
  }

  function load(target: SandboxTarget): Entry {
    if (byKey.size >= maxLoaded) evict()
    lastNumber += 1
    const entry = { number: lastNumber, target, version: target.version.digest, usedAt: performance.now() }
    byKey.set(target.key, entry)
    byNumber.set(lastNumber, entry)
    const { heapMb, cpuMs, bodyBytes } = limits
    send(
      { type: 'load', sandbox: lastNumber, file: `annex:${target.integration}`, heapMb, cpuMs, bodyBytes },
      target.version.code,
    )
    return entry
  }

  function evict(): void {
    let oldest: Entry | undefined
    for (const entry of byKey.values())
      if (oldest === undefined || entry.usedAt < oldest.usedAt) oldest = entry
    if (oldest !== undefined && performance.now() - oldest.usedAt > restMs) retire(oldest)
  }

  function retire(entry: Entry): void {
    byKey.delete(entry.target.key)
    const unload = () => {
      byNumber.delete(entry.number)
      send({ type: 'unload', sandbox: entry.number })
    }
    setTimeout(unload, restMs).unref()
  }
}

const nameOf = ({ key, version }: SandboxTarget): string => `${key}@${version.digest}`
