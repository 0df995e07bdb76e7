import type { UsageRow } from '../db/queries/receipts.ts'
import { isOk, type Receipt } from './receipt.ts'

/** The dispatches of one owner since the last flush: an installation, or an integration without one. */
export type Collected = {
  sums: Omit<UsageRow, 'minute'>
  /** Single receipts: all while they are few, then failed ones before slow ones. */
  kept: Receipt[]
}

export type Collection = {
  /** Under a microsecond: some additions, and a comparison once `kept` is full. */
  add: (receipt: Receipt) => void
  owners: ReadonlyMap<string, Collected>
}

/** Single receipts of one owner in one flush. */
const keptOfOne = 50
/** Of all owners together. Above it each owner has `atLeastOfOne`. */
const keptOfAll = 1_000
const atLeastOfOne = 2

type Own = Collected & { least: number }

export function collectReceipts(): Collection {
  const owners = new Map<string, Own>()
  let total = 0
  return {
    owners,
    add(receipt) {
      const owner = receipt.installationId ?? receipt.integration
      let own = owners.get(owner)
      if (own === undefined) {
        own = { sums: noUsage(owner, receipt), kept: [], least: 0 }
        owners.set(owner, own)
      }
      count(own.sums, receipt)
      if (own.kept.length < keptOfOne && (total < keptOfAll || own.kept.length < atLeastOfOne)) {
        total += 1
        own.kept.push(receipt)
        if (own.kept.length === 1 || weightOf(receipt) < weightOf(own.kept[own.least])) {
          own.least = own.kept.length - 1
        }
      } else if (weightOf(receipt) > weightOf(own.kept[own.least])) {
        own.kept[own.least] = receipt
        own.least = leastOf(own.kept)
      }
    },
  }
}

/** A failed receipt weighs more than any slow one. */
function weightOf(receipt: Receipt | undefined): number {
  if (receipt === undefined) return Number.POSITIVE_INFINITY
  return isOk(receipt) ? receipt.wallMs : 1e12 + receipt.wallMs
}

function leastOf(receipts: readonly Receipt[]): number {
  let least = 0
  for (let at = 1; at < receipts.length; at += 1) {
    if (weightOf(receipts[at]) < weightOf(receipts[least])) least = at
  }
  return least
}

function count(sums: Collected['sums'], receipt: Receipt): void {
  sums.dispatches += 1
  if (!isOk(receipt)) sums.failed += 1
  sums.cpuMs += receipt.cpuMs
  sums.wallMs += receipt.wallMs
  sums.egressCalls += receipt.egressCalls
  sums.egressBytes += receipt.egressBytes
  sums.hostCalls += receipt.hostCalls
  if (receipt.heapBytes > sums.maxHeapBytes) sums.maxHeapBytes = receipt.heapBytes
}

const noUsage = (owner: string, { integration, installationId }: Receipt): Collected['sums'] => ({
  owner,
  integration,
  installationId: installationId ?? null,
  dispatches: 0,
  failed: 0,
  cpuMs: 0,
  wallMs: 0,
  egressCalls: 0,
  egressBytes: 0,
  hostCalls: 0,
  maxHeapBytes: 0,
})
