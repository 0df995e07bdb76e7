import { createLru } from '../cache.ts'
import type { EndCause } from './sandbox-errors.ts'
import type { SandboxTarget } from './target.ts'

/** Where a target may run: in a shared process, alone, or not at all. */
export type Verdict = { kind: 'shared' | 'alone' } | { kind: 'suspended'; reason: string }

/** Remembers the scripts that ended their sandbox process, or kept it busy. */
export type Offenders = {
  /** @returns the reason to suspend the target, when its process ended too often */
  strike: (target: SandboxTarget, cause: EndCause) => string | undefined
  /** The target has kept its neighbours waiting for too long. */
  busy: (target: SandboxTarget) => void
  verdict: (target: SandboxTarget) => Verdict
  /** After a resume, by a target's key: drops its strikes. It runs alone for the rest of its hour. */
  forgive: (key: string) => void
}

const minuteMs = 60_000
const aloneFrom = 2
const aloneMs = 60 * minuteMs
/** After a busy stretch. */
const aloneWhileBusyMs = 10 * minuteMs
const suspendedFrom = 4
const suspendedWithinMs = 10 * minuteMs
/** By then the suspension is stored, and refuses on each host, and after a restart. */
const refusedMs = 10_000
const maxRecords = 10_000

type Record = { strikes: number[]; aloneUntilMs: number; refusedUntilMs: number; reason: string }

/**
 * A version that ends its process twice within an hour runs alone for the next hour, and hurts no neighbour. After one long
 * stretch it runs alone for ten minutes. Four ends within ten minutes suspend it. A new version has no strikes. Each host counts
 * for itself.
 */
export function createOffenders(now: () => number = () => performance.now()): Offenders {
  const records = createLru<Record>(maxRecords)
  return {
    strike(target, cause) {
      const record = recordOf(target)
      record.strikes = [...record.strikes, now()]
        .filter((atMs) => now() - atMs < aloneMs)
        .slice(-suspendedFrom)
      if (record.strikes.length >= aloneFrom) record.aloneUntilMs = now() + aloneMs
      const [first = 0] = record.strikes
      if (record.strikes.length < suspendedFrom || now() - first > suspendedWithinMs) return undefined
      record.strikes = []
      record.refusedUntilMs = now() + refusedMs
      record.reason = reasonFor(cause)
      return record.reason
    },
    busy(target) {
      const record = recordOf(target)
      record.aloneUntilMs = Math.max(record.aloneUntilMs, now() + aloneWhileBusyMs)
    },
    verdict(target) {
      const record = records.size === 0 ? undefined : records.peek(nameOf(target))
      if (record === undefined) return shared
      if (record.refusedUntilMs > now()) return { kind: 'suspended', reason: record.reason }
      return record.aloneUntilMs > now() ? alone : shared
    },
    forgive(key) {
      records.forEach((record, name) => {
        if (name.startsWith(`${key}@`)) Object.assign(record, { strikes: [], refusedUntilMs: 0 })
      })
    },
  }

  function recordOf(target: SandboxTarget): Record {
    const name = nameOf(target)
    const found = records.get(name) ?? { strikes: [], aloneUntilMs: 0, refusedUntilMs: 0, reason: '' }
    // The record of the last strike is kept longest.
    records.set(name, found)
    return found
  }
}

const shared: Verdict = { kind: 'shared' }
const alone: Verdict = { kind: 'alone' }

const nameOf = ({ key, version }: SandboxTarget): string => `${key}@${version.digest}`

function reasonFor(cause: EndCause): string {
  const minutes = suspendedWithinMs / minuteMs
  return `Its script has ended its sandbox process ${suspendedFrom} times within ${minutes} minutes, the last time because ${becauseOf(cause)}.`
}

function becauseOf({ kind }: EndCause): string {
  switch (kind) {
    case 'cpu_limit':
      return 'one operation took longer than it may (SANDBOX_CPU_MS)'
    case 'memory_limit':
      return 'it used more memory than there is (SANDBOX_RESIDENT_MB)'
    case 'garbage':
      return 'its process sent what no sandbox sends'
    default:
      return 'V8 could not go on, mostly for lack of memory (SANDBOX_HEAP_MB)'
  }
}
