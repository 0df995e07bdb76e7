import { createLru } from '../cache.ts'
import type { Db } from '../db/db.ts'
import type { Step } from '../db/group-commit.ts'
import type { Delivery } from '../db/queries/deliveries.ts'
import { findInstallation } from '../db/queries/installations.ts'
import { disableReceiver, type Health, type Receiver, updateHealth } from '../db/queries/receivers.ts'
import type { LogWriter } from '../logs/create-log-writer.ts'
import { type Stored, stored } from '../queue/job-handler.ts'
import type { NextStep } from '../queue/retry-schedule.ts'
import type { Attempt } from './send-attempt.ts'

/** Number of remembered receivers with a success. Late outcomes are late by seconds, so older ones can be dropped. */
const remembered = 10_000

/**
 * Stores the start of a receiver's failures, or its success, together with the attempt.
 *
 * @returns the change for an attempt that has ended. The receiver was read when the attempt began, so the statement that
 *   stores the change decides whether it still applies.
 */
export function createHealthNotes(): (receiverId: string, isDelivered: boolean, endedAt: number) => Stored {
  /** While the database is away, changes are stored late. A late failure must not follow a newer success. */
  const deliveredAt = createLru<number>(remembered)
  return (id, isDelivered, endedAt) => {
    if (isDelivered) deliveredAt.set(id, endedAt)
    const health: Health = { id, failingSince: isDelivered ? null : endedAt }
    return stored(change, health)
  }

  /** Applies changes in the order of the attempts, as a failure after a success has a new start. */
  async function change(transaction: Db, changes: readonly Health[]): Promise<[]> {
    const last = new Map(changes.map((one) => [one.id, one]))
    const well = new Map(changes.flatMap((one) => (one.failingSince === null ? [[one.id, one]] : [])))
    await updateHealth(transaction, [...well.values()])
    await updateHealth(transaction, [...last.values()].filter(isFailingStill))
    return []
  }

  function isFailingStill({ id, failingSince }: Health): boolean {
    return failingSince !== null && failingSince >= (deliveredAt.get(id) ?? 0)
  }
}

/** A receiver to disable, with the reason. */
export type ReceiverToDisable = { receiver: Receiver; reason: string }

/**
 * Decides whether an attempt disables its receiver, and why. The first reason is the answer 410 (Gone, RFC 9110 section
 * 15.5.11). The second is `giveUpAfterMs` without a 2xx: it also needs a delivery that has no retries left or is as old. The
 * failure before it may be days old and the only one.
 */
export function reasonToDisable(
  { failingSince }: Pick<Receiver, 'failingSince'>,
  { status }: Pick<Attempt, 'status'>,
  { state, createdAt }: Pick<NextStep, 'state'> & Pick<Delivery, 'createdAt'>,
  nowMs: number,
  giveUpAfterMs: number,
): string | undefined {
  if (status === 410) return 'It answered 410 Gone.'
  if (state === 'delivered' || failingSince === null || nowMs - failingSince < giveUpAfterMs) return undefined
  if (state === 'due' && nowMs - createdAt < giveUpAfterMs) return undefined
  return `No attempt has been answered with 2xx since ${new Date(failingSince).toISOString()}.`
}

/** Disables receivers, and tells their installers in the installation's log. The receiver keeps the reason. */
export function createDisable(logs: Pick<LogWriter, 'report'>): Step<ReceiverToDisable, undefined> {
  return async (transaction, all) => {
    for (const { receiver, reason } of all) {
      const { id, installationId, url } = receiver
      // Of simultaneous attempts only the first disables the receiver and reports it.
      if (!(await disableReceiver(transaction, id, reason))) continue
      const installation = await findInstallation(transaction, installationId)
      if (installation === undefined) continue
      logs.report({
        integration: installation.integration,
        installationId,
        requestId: null,
        level: 'error',
        text: `The receiver ${id} (${url}) is disabled. ${reason} Its pending deliveries fail. Repair it, then run: npx annex receivers resume ${id}`,
      })
    }
    return all.map(() => undefined)
  }
}
