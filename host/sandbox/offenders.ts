import type { SandboxTarget } from './target.ts'

/** Where a target may run: with the others, in a process of its own, or not for so many ms. */
export type Verdict = { kind: 'shared' | 'alone' } | { kind: 'rests'; ms: number }

/** Remembers which scripts have ended their sandbox process, and which have kept theirs busy. */
export type Offenders = {
  /** It has ended its process. */
  strike: (target: SandboxTarget) => void
  /** It has kept its process from everybody else for longer than they should wait. */
  busy: (target: SandboxTarget) => void
  verdict: (target: SandboxTarget) => Verdict
}

const aloneFrom = 2
const restsFrom = 4
const longestRestMs = 60_000
/** After as long without another one, the strikes are forgotten. */
const forgetMs = 10 * 60_000
const maxKept = 10_000

type Record = { strikes: number; isBusy: boolean; atMs: number }

/**
 * Twice, and a version runs alone, where it ends nobody else's requests; so does at once one that needs much time at a
 * stretch. When it goes on, it rests longer each time. A new version begins without a record.
 */
export function createOffenders(now: () => number = () => performance.now()): Offenders {
  const records = new Map<string, Record>()
  return {
    strike(target) {
      note(target, { strikes: recordOf(target).strikes + 1 })
    },
    busy(target) {
      note(target, { isBusy: true })
    },
    verdict(target) {
      if (records.size === 0) return shared
      const { strikes, isBusy, atMs } = recordOf(target)
      if (strikes < aloneFrom) return isBusy ? alone : shared
      if (strikes < restsFrom) return alone
      const rest = Math.min(longestRestMs, 1000 * 2 ** (strikes - restsFrom))
      const ms = atMs + rest - now()
      return ms > 0 ? { kind: 'rests', ms } : alone
    },
  }

  function note(target: SandboxTarget, more: Partial<Record>): void {
    const record = { ...recordOf(target), ...more, atMs: now() }
    if (records.size >= maxKept) records.clear()
    records.set(nameOf(target), record)
  }

  function recordOf(target: SandboxTarget): Record {
    const record = records.get(nameOf(target))
    return record === undefined || now() - record.atMs > forgetMs ? noRecord : record
  }
}

const shared: Verdict = { kind: 'shared' }
const alone: Verdict = { kind: 'alone' }
const noRecord: Record = { strikes: 0, isBusy: false, atMs: 0 }

const nameOf = ({ key, version }: SandboxTarget): string => `${key}@${version.digest}`
