import type { Db } from '../db.ts'

/** A host that shares this database (PostgreSQL alone: an SQLite file has one owner). Times are the database's. */
export type HostRow = {
  /** Of this run: a host that starts again is another one. */
  id: string
  /** The data folder that it owns, on its machine: no two hosts that run have the same. */
  place: string
  version: string
  startedAt: number
  seenAt: number
}

/** The database's clock in Unix ms, as it is now and not as it was when the transaction began. */
const clockMs = `(extract(epoch from clock_timestamp()) * 1000)::bigint`

export async function readClock(db: Db): Promise<number> {
  const { rows } = await db.raw(`select ${clockMs} as now`)
  return rows[0].now
}

/** For an answer: the connection may be one over which nothing passes any more, and nobody says so. */
const patienceMs = 2_500

/**
 * Says that a host is alive, and is how it is made known, again where it was struck off.
 *
 * @returns the database's clock
 * @throws what is thrown when there is no answer in 2.5 s: the connection is given up then
 */
export async function beatHost(db: Db, host: Pick<HostRow, 'id' | 'place' | 'version'>): Promise<number> {
  const now = db.raw(clockMs)
  const [row] = await db('hosts')
    .insert({ ...host, startedAt: now, seenAt: now })
    .onConflict('id')
    .merge(['seenAt'])
    .returning('seenAt')
    .timeout(patienceMs)
  return row.seenAt
}

/** @throws as `beatHost` */
export async function listHosts(db: Db): Promise<HostRow[]> {
  return db('hosts').orderBy('startedAt').timeout(patienceMs)
}

/** Hosts that owned the same data folder before: whoever has its lock now knows that they are gone. */
export async function findPredecessors(
  db: Db,
  { id, place }: Pick<HostRow, 'id' | 'place'>,
): Promise<HostRow[]> {
  return db('hosts').where({ place }).whereNot({ id })
}

/** Strikes hosts off that were not seen since. */
export async function strikeHosts(db: Db, hosts: readonly Pick<HostRow, 'id' | 'seenAt'>[]): Promise<void> {
  for (const { id, seenAt } of hosts) await db('hosts').where({ id, seenAt }).del()
}

/** @throws as `beatHost` */
export async function removeHost(db: Db, id: string): Promise<void> {
  await db('hosts').where({ id }).del().timeout(patienceMs)
}
