// The least that is a queue on the packages that Annex uses: jobs with leases and retries, a limit for each receiver, and one synced
// commit for all that waits. It has nothing of what Annex decides for each delivery: Annex is measured beside it.
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import knex, { type Knex } from 'knex'
import { readGiven } from '../child-calls.ts'
import { type OwedPost, postSigned, toPosts } from '../post-signed.ts'
import { type Given, inFlight, serveSender } from '../sender.ts'
import { answer, requestHeaders, tables } from './tables.ts'

type Claimed = OwedPost & { attempt: number }
type Ended = Claimed & { status: number; startedAt: number; durationMs: number }

const jobs = `
  create table jobs (id text primary key, lane text not null, due_at integer not null, attempt integer not null, lease integer);
  create index waiting on jobs (lane, due_at, id) where lease is null
`
/** More than are sent at once: what sends waits for no commit. */
const mostClaimed = inFlight * 1.5
const retryMs = 1_000

const { urls, dataDir } = readGiven<Given>()
const db = knex({
  client: 'sqlite3',
  connection: { filename: join(dataDir, 'plain.sqlite') },
  useNullAsDefault: true,
  pool: { min: 1, max: 1 },
})
await db.raw('pragma journal_mode = wal')
await db.raw('pragma synchronous = full')
if (!(await db.schema.hasTable('jobs')))
  for (const statement of `${tables} ${jobs}`.split(';')) if (statement.trim() !== '') await db.raw(statement)
// This process owns the file: what holds a lease was cut off by a crash.
await db.raw('update jobs set lease = null where lease is not null')
let unsettled = Number((await db('jobs').count({ count: '*' }))[0]?.count)

/** For the next commit. */
let owed: OwedPost[] = []
let ended: Ended[] = []
let committed = Promise.withResolvers<void>()
let isCommitting = false
const toSend: Claimed[] = []
const claimedOf = new Map(urls.map((url) => [url, 0]))
let sending = 0
// Retries, once they are due.
setInterval(wake, retryMs).unref()
wake()

serveSender({
  about: 'knex and sqlite3 with synchronous = full, in groups',
  owe(event) {
    unsettled += urls.length
    owed.push(...toPosts(event, urls))
    const { promise } = committed
    wake()
    return promise
  },
  countOwed: async () => unsettled,
  close: () => db.destroy(),
})

/** Commits until there is nothing to write and nothing to claim. */
async function wake(): Promise<void> {
  if (isCommitting) return
  isCommitting = true
  for (let isIdle = false; !isIdle; ) {
    // What comes up in one turn of the event loop shares a commit.
    await nextTurn()
    const [stored, settled, { resolve }] = [owed, ended, committed]
    owed = []
    ended = []
    committed = Promise.withResolvers()
    for (const { url } of settled) claimedOf.set(url, (claimedOf.get(url) ?? 0) - 1)
    const claimed = await db.transaction((transaction) => commit(transaction, stored, settled))
    resolve()
    unsettled -= settled.filter(isDelivered).length
    for (const post of claimed) claimedOf.set(post.url, (claimedOf.get(post.url) ?? 0) + 1)
    toSend.push(...claimed)
    while (sending < inFlight && toSend.length > 0) void send()
    isIdle = owed.length === 0 && ended.length === 0 && claimed.length === 0
  }
  isCommitting = false
}

async function send(): Promise<void> {
  sending += 1
  for (let post = toSend.shift(); post !== undefined; post = toSend.shift()) {
    const startedAt = Date.now()
    const { status } = await postSigned(post).catch(() => ({ status: 0 }))
    ended.push({ ...post, status, startedAt, durationMs: Date.now() - startedAt })
    wake()
  }
  sending -= 1
}

const isDelivered = ({ status }: Ended) => status !== 0

/** @returns what this commit has claimed */
async function commit(
  transaction: Knex,
  stored: readonly OwedPost[],
  settled: readonly Ended[],
): Promise<Claimed[]> {
  const write = async (statement: string, rows: unknown[]) => {
    if (rows.length > 0) await transaction.raw(statement, [JSON.stringify(rows)])
  }
  const now = Date.now()
  const bodies = new Map(stored.map(({ eventId, body }) => [eventId, body]))
  await write(`insert into bodies select value ->> 0, value ->> 1 from json_each(?)`, [...bodies])
  await write(
    `insert into deliveries select value ->> 0, value ->> 1, value ->> 2, 'pending', null from json_each(?)`,
    stored.map(({ deliveryId, eventId, url }) => [deliveryId, eventId, url]),
  )
  await write(
    `insert into jobs select value ->> 0, value ->> 1, value ->> 2, 1, null from json_each(?)`,
    stored.map(({ deliveryId, url }) => [deliveryId, url, now]),
  )
  await write(
    `insert into attempts select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6 from json_each(?)`,
    settled.map(({ deliveryId, attempt, status, startedAt, durationMs }) => [
      ...[`${deliveryId}-${attempt}`, deliveryId, status, startedAt, durationMs, requestHeaders, answer],
    ]),
  )
  const delivered = settled.filter(isDelivered).map(({ deliveryId }) => deliveryId)
  await write(
    `update deliveries set state = 'delivered', settled_at = ${now} where id in (select value from json_each(?))`,
    delivered,
  )
  await write(`delete from jobs where id in (select value from json_each(?))`, delivered)
  await write(
    `update jobs set lease = null, attempt = attempt + 1, due_at = value ->> 1 from json_each(?) where id = value ->> 0`,
    settled
      .filter((one) => !isDelivered(one))
      .map(({ deliveryId, attempt }) => [deliveryId, now + retryMs * 2 ** attempt]),
  )
  const lanes = urls.map((url) => ({ url, room: mostClaimed / urls.length - (claimedOf.get(url) ?? 0) }))
  const due = lanes.map(
    () =>
      `select * from (select id from jobs where lease is null and lane = ? and due_at <= ? order by due_at limit ?)`,
  )
  const claims = await transaction.raw(
    `update jobs set lease = ${now} where id in (${due.join(' union all ')}) returning id, attempt`,
    lanes.flatMap(({ url, room }) => [url, now, Math.ceil(room)]),
  )
  if (claims.length === 0) return []
  return transaction.raw(
    `select deliveries.id as "deliveryId", event_id as "eventId", url, body, value ->> 1 as attempt
     from json_each(?) join deliveries on deliveries.id = value ->> 0 join bodies on bodies.id = event_id`,
    [JSON.stringify(claims.map(({ id, attempt }: { id: string; attempt: number }) => [id, attempt]))],
  )
}
