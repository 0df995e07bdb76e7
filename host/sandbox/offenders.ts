import type { SandboxTarget } from './target.ts'

/** Where a target may run: with the others, in a process of its own, or not for so many ms. */
export type Verdict = { kind: 'shared' | 'alone' } | { kind: 'rests'; ms: number }

/** Remembers which scripts have ended their sandbox process. */
export type Offenders = {
  strike: (target: SandboxTarget) => void
  verdict: (target: SandboxTarget) => Verdict
}

const aloneFrom = 2
const restsFrom = 4
const longestRestMs = 60_000
/** After as long without another one, the strikes are forgotten. */
const forgetMs = 10 * 60_000
const maxKept = 10_000

/**
 * Twice, and a version runs alone, where it ends nobody else's requests. When it goes on, it rests longer each time.
 * A new version begins without a record.
 */
export function createOffenders(now: () => number = () => performance.now()): Offenders {
  const records = new Map<string, { strikes: number; atMs: number }>()
  return {
    strike(target) {
      if (records.size >= maxKept) records.clear()
      records.set(nameOf(target), { strikes: strikesOf(target) + 1, atMs: now() })
    },
    verdict(target) {
      const strikes = strikesOf(target)
      if (strikes < aloneFrom) return { kind: 'shared' }
      if (strikes < restsFrom) return { kind: 'alone' }
      const rest = Math.min(longestRestMs, 1000 * 2 ** (strikes - restsFrom))
      const ms = (records.get(nameOf(target))?.atMs ?? 0) + rest - now()
      return ms > 0 ? { kind: 'rests', ms } : { kind: 'alone' }
    },
  }

  function strikesOf(target: SandboxTarget): number {
    const record = records.get(nameOf(target))
    return record === undefined || now() - record.atMs > forgetMs ? 0 : record.strikes
  }
}

const nameOf = ({ key, version }: SandboxTarget): string => `${key}@${version.digest}`
