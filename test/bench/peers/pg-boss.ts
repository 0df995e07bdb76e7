// pg-boss: a job for each delivery, kept with what it returned; fetched and completed in batches, woken by NOTIFY.
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { readGiven } from '../deliveries/child-calls.ts'
import { type OwedPost, postSigned, toPosts } from '../deliveries/post-signed.ts'
import { type Given, inFlight, serveSender } from '../deliveries/sender.ts'
import { readVersion } from './read-version.ts'
import { storeInGroups } from './store-in-groups.ts'

/** Each has a batch under way: more of them wait less for the slowest of a batch. */
const workers = 2

const { urls, databaseUrl } = readGiven<Given>()
const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 })
const boss = new PgBoss({ connectionString: databaseUrl, max: 20, useListenNotify: true, schedule: false })
const queue = 'deliveries'
boss.on('error', (error) => process.stderr.write(`${error.message}\n`))
await boss.start()
await boss.createQueue(queue, { notify: true, retryLimit: 3 })
await boss.work<OwedPost>(
  queue,
  {
    batchSize: inFlight / workers,
    localConcurrency: workers,
    pollingIntervalSeconds: 0.5,
    burstWhenBatchFull: true,
    perJobResults: true,
  },
  (jobs) =>
    Promise.all(
      jobs.map(async ({ id, data }) => ({
        id,
        status: 'completed' as const,
        output: await postSigned(data),
      })),
    ),
)
const { rows } = await pool.query('show server_version')

const store = storeInGroups<OwedPost>((posts) =>
  boss.insert(
    queue,
    posts.map((data) => ({ data })),
  ),
)

serveSender({
  about: `${readVersion('pg-boss')}, PostgreSQL ${rows[0].server_version.split(' ')[0]}`,
  owe: (event) => store(toPosts(event, urls)),
  async countOwed() {
    const { rows } = await pool.query(
      `select count(*)::int owed, count(*) filter (where state in ('retry', 'failed'))::int failed
      from pgboss.job where state <> 'completed'`,
    )
    if (rows[0].failed > 0) throw new Error(`${rows[0].failed} jobs failed`)
    return rows[0].owed
  },
  close: () => boss.stop({ graceful: false }).finally(() => pool.end()),
})
