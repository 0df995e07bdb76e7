import type { Knex } from 'knex'
import type { Db } from '../db.ts'
import { newestFirst, withPrefix } from '../ids.ts'
import { jsonRows, toJson } from '../json-rows.ts'
import { inTexts, rawRows } from '../sql.ts'
import { toDeliveryJob } from './deliveries.ts'
import { insertJobs } from './jobs.ts'
import { type DeliveryFilter, narrow, unindexed } from './list-deliveries.ts'
import type { KnownReceiver } from './receivers.ts'

/** A delivery to send again, with its due time in Unix ms. */
export type Again = { id: string; dueAt: number }

const columns = { id: 'text', dueAt: 'bigint' } as const

type Sent = { id: string; receiverId: string; installationId: string; bodySize: number }

/**
 * Makes settled deliveries pending again. Each begins a new round of the schedule. Its attempts keep counting.
 *
 * @param failedUpToMs only deliveries that have failed by then. Default: all settled ones
 * @returns the ids of the deliveries that it has made pending
 */
export async function sendAgain(db: Db, all: readonly Again[], failedUpToMs?: number): Promise<string[]> {
  if (all.length === 0) return []
  await lockRows(db, all)
  const [isSettled, upTo] =
    failedUpToMs === undefined
      ? [`deliveries.state <> 'pending'`, []]
      : [`deliveries.state = 'failed' and deliveries.finished_at <= ?`, [failedUpToMs]]
  const sent = await rawRows<Sent>(
    db,
    `update deliveries set state = 'pending', reason = null, finished_at = null, refused_id = null
     from ${jsonRows(db, 'again', columns)}
     where deliveries.id = again.id and ${isSettled}
     returning deliveries.id as id, deliveries.receiver_id as receiver_id, deliveries.installation_id as installation_id,
       (select octet_length(body) from bodies where bodies.id = deliveries.body_id) as body_size`,
    [toJson(all, columns), ...upTo],
  )
  const receivers = await findStates(db, sent)
  const dueAt = new Map(all.map((again) => [again.id, again.dueAt]))
  await insertJobs(
    db,
    // An ordered receiver takes jobs in the order in which they are inserted.
    sent
      .sort(newestFirst)
      .reverse()
      .map((delivery) => {
        const receiver = receivers.get(delivery.receiverId) ?? { state: 'active', ordered: false }
        return toDeliveryJob(delivery, receiver, dueAt.get(delivery.id) ?? 0)
      }),
  )
  return sent.map(({ id }) => id)
}

/**
 * Makes the next attempt of a pending delivery due now, even before its `Retry-After` is over. The attempt counts for
 * its schedule.
 *
 * @returns the state of its job: `due` when it was changed, `running` while an attempt runs, `waiting` until a resume
 */
export async function bringForward(db: Db, id: string, nowMs: number): Promise<string | undefined> {
  const job = { id: withPrefix(id, 'job'), kind: 'delivery' }
  const changed = await db('jobs')
    .where({ ...job, state: 'due' })
    .where('dueAt', '>', nowMs)
    .update({ dueAt: nowMs })
  // A worker may claim it at once.
  if (changed === 1) return 'due'
  return (await db('jobs').where(job).first('state'))?.state
}

/** Locks deliveries in one order, as two requests may send the same ones. */
async function lockRows(db: Db, all: readonly Again[]): Promise<void> {
  const ids = JSON.stringify(all.map(({ id }) => id))
  await db('deliveries')
    .select('id')
    .whereRaw(`id ${inTexts(db)}`, [ids])
    .orderBy('id')
    .forUpdate()
}

/** A resume of a paused receiver waits for the end of the transaction, and then finds the waiting jobs. */
async function findStates(
  db: Db,
  sent: readonly Sent[],
): Promise<Map<string, Pick<KnownReceiver, 'state' | 'ordered'>>> {
  const ids = [...new Set(sent.map(({ receiverId }) => receiverId))]
  const rows = await db('receivers').select('id', 'state', 'ordered').whereIn('id', ids).forShare()
  return new Map(rows.map((row) => [row.id, row]))
}

/** Deliveries that failed from `sinceMs` to `upToMs`, in Unix ms. */
export type FailedFilter = Omit<DeliveryFilter, 'state'> & { sinceMs: number; upToMs: number }

/** `count`: deliveries that can be sent. `disabled`: deliveries to a disabled receiver. */
export type FailedCount = { count: number; disabled: number }

type Counted = { ofAll: number; ofDisabled: number }

export async function countFailed(db: Db, filter: FailedFilter): Promise<FailedCount> {
  const row = await failedOnes(db, filter)
    .select(
      db.raw(`count(*) as of_all,
        coalesce(sum(case when receivers.state = 'disabled' then 1 else 0 end), 0) as of_disabled`),
    )
    .first<Counted>()
  const disabled = Number(row.ofDisabled)
  return { count: Number(row.ofAll) - disabled, disabled }
}

/** The ids of the next deliveries that can be sent, the oldest first. `after`: the last id of the page before. */
export async function listFailed(
  db: Db,
  filter: FailedFilter,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  return failedOnes(db, filter)
    .where('deliveries.id', '>', after)
    .where('receivers.state', '<>', 'disabled')
    .orderBy('deliveries.id')
    .limit(limit)
    .pluck('deliveries.id')
}

function failedOnes(db: Db, { sinceMs, upToMs, ...filter }: FailedFilter): Knex.QueryBuilder {
  const query = db('deliveries')
    // SQLite keeps to the order of a cross join, and reads the index `deliveries_failed` first.
    .crossJoin('receivers' as never)
    .where('receivers.id', db.ref('deliveries.receiverId'))
    .whereNotNull('deliveries.reason')
    .whereBetween('deliveries.finishedAt', [sinceMs, upToMs])
  return narrow(db, query, { ...filter, state: 'failed' }, unindexed(db))
}
