import type { Db } from '../db/db.ts'
import {
  addUsage,
  insertReceipts,
  pruneReceipts,
  pruneUsage,
  type ReceiptRow,
  type UsageRow,
} from '../db/queries/receipts.ts'
import { transact } from '../db/sql.ts'
import { createWriteBehind } from '../db/write-behind.ts'
import { toStoredText } from '../egress/outbound-requests.ts'
import type { KnownSecrets } from '../logs/known-secrets.ts'
import { collectReceipts } from './collect-receipts.ts'
import { measured, type OnReceipt, type Receipt } from './receipt.ts'

/** Stores receipts, for `annex logs` and the API. */
export type ReceiptWriter = {
  take: OnReceipt
  /** Settles when all receipts so far are in the database. */
  flush: () => Promise<void>
  close: () => Promise<void>
}

const flushEveryMs = 1_000
const minuteMs = 60_000
/** Single receipts of one owner in the database. The oldest are deleted after each `pruneEvery` further ones. */
const keptOfOne = 5_000
const pruneEvery = 500
const sumsKeptMs = 7 * 24 * 60 * minuteMs
/** Deletes in small steps: other writes do not wait long. */
const prunedAtOnce = 2_000
const ownersAtOnce = 10
/** Of one transaction: other writes wait for its end. */
const rowsAtOnce = 200
/** Sums that are kept in memory while the database fails. */
const maxUnsaved = 50_000

/**
 * Each dispatch counts in the sums of its owner and minute. Single receipts are stored too: all of them for a quiet owner, else
 * the failed and the slowest ones of each second (`collectReceipts`). One transaction a second, or a few.
 */
export function createReceiptWriter(
  db: Db,
  given: { redact: KnownSecrets['redact']; onDefect: (error: unknown) => void; now?: () => number },
): ReceiptWriter {
  const { redact, onDefect, now = Date.now } = given
  let collection = collectReceipts()
  /** The time of the first receipt in the collection. */
  let sinceMs: number | undefined
  const writing = createWriteBehind(store, flushEveryMs, onDefect)
  const unsaved = new Map<string, UsageRow>()
  const added = new Map<string, number>()
  /** Owners that may have too many receipts: also each new owner, which may have receipts from before a restart. */
  const toPrune = new Set<string>()
  let prunedMinute = 0
  return {
    take(receipt) {
      collection.add(receipt)
      sinceMs ??= now()
      writing.note()
    },
    flush: writing.flush,
    close: writing.close,
  }

  async function store(): Promise<void> {
    const { owners } = collection
    const minute = Math.floor((sinceMs ?? now()) / minuteMs) * minuteMs
    collection = collectReceipts()
    sinceMs = undefined
    const receipts: Omit<ReceiptRow, 'id'>[] = []
    for (const [owner, { sums, kept }] of owners) {
      if (unsaved.size < maxUnsaved) addTo(unsaved, { ...sums, minute })
      // A busy owner's are in the order of their weight.
      for (const receipt of kept.sort(byStart)) receipts.push(toRow(owner, receipt, redact))
      notePrune(owner, kept.length)
    }
    // Sums that could not be stored are stored with the next ones. Single receipts may be lost.
    for (let at = 0; unsaved.size > 0 || at < receipts.length; at += rowsAtOnce) {
      const usage = [...unsaved].slice(0, rowsAtOnce)
      await transact(db, async (transaction) => {
        const rows = usage.map(([, row]) => row)
        await addUsage(transaction, rows)
        await insertReceipts(transaction, receipts.slice(at, at + rowsAtOnce))
      })
      for (const [key] of usage) unsaved.delete(key)
    }
    await prune()
  }

  function notePrune(owner: string, count: number): void {
    const before = added.get(owner)
    const after = (before ?? 0) + count
    if (before === undefined || after >= pruneEvery) toPrune.add(owner)
    added.set(owner, after >= pruneEvery ? 0 : after)
  }

  async function prune(): Promise<void> {
    for (const owner of [...toPrune].slice(0, ownersAtOnce)) {
      const pruned = await pruneReceipts(db, owner, keptOfOne, prunedAtOnce)
      if (pruned < prunedAtOnce) toPrune.delete(owner)
    }
    const minute = Math.floor(now() / minuteMs)
    if (minute === prunedMinute) return
    prunedMinute = minute
    await pruneUsage(db, now() - sumsKeptMs, prunedAtOnce)
  }
}

/** One statement cannot change a row twice: the seconds of a minute are added up here. */
function addTo(unsaved: Map<string, UsageRow>, row: UsageRow): void {
  const key = `${row.minute} ${row.owner}`
  const found = unsaved.get(key)
  unsaved.set(key, {
    ...row,
    dispatches: row.dispatches + (found?.dispatches ?? 0),
    failed: row.failed + (found?.failed ?? 0),
    cpuMs: measured(row.cpuMs) + (found?.cpuMs ?? 0),
    wallMs: measured(row.wallMs) + (found?.wallMs ?? 0),
    egressCalls: counted(row.egressCalls) + (found?.egressCalls ?? 0),
    egressBytes: counted(row.egressBytes) + (found?.egressBytes ?? 0),
    hostCalls: counted(row.hostCalls) + (found?.hostCalls ?? 0),
    maxHeapBytes: Math.max(counted(row.maxHeapBytes), found?.maxHeapBytes ?? 0),
  })
}

function toRow(owner: string, receipt: Receipt, redact: KnownSecrets['redact']): Omit<ReceiptRow, 'id'> {
  const { installationId = null, requestId, integration, type, startedAtMs, outcome, status = null } = receipt
  return {
    owner,
    integration,
    installationId,
    requestId,
    // The author of an event chooses its type, of any length.
    type: type.slice(0, 100),
    eventId: receipt.eventId ?? null,
    startedAt: counted(startedAtMs),
    cpuMs: measured(receipt.cpuMs),
    wallMs: measured(receipt.wallMs),
    heapBytes: counted(receipt.heapBytes),
    egressCalls: counted(receipt.egressCalls, maxInteger),
    egressBytes: counted(receipt.egressBytes),
    outboundRequests: toStoredText(receipt.requests, (text, isCut) => redact(owner, text, isCut)),
    hostCalls: counted(receipt.hostCalls, maxInteger),
    deliveries: counted(receipt.deliveries, maxInteger),
    tasks: counted(receipt.tasks, maxInteger),
    outcome,
    status,
  }
}

const byStart = (one: Receipt, other: Receipt): number => one.startedAtMs - other.startedAtMs

const maxInteger = 2 ** 31 - 1

/** As `measured`, for whole numbers: an invalid one must not stop the receipts of other owners. */
const counted = (count: number, most = Number.MAX_SAFE_INTEGER): number =>
  Number.isFinite(count) && count > 0 ? Math.min(Math.round(count), most) : 0
