// graphile-worker: a job for each delivery, fetched and completed in batches. It keeps no history: the row goes.
import { makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import { readGiven } from '../deliveries/child-calls.ts'
import { type OwedPost, postSigned, toPosts } from '../deliveries/post-signed.ts'
import { type Given, inFlight, serveSender } from '../deliveries/sender.ts'
import { readVersion } from './read-version.ts'
import { storeInGroups } from './store-in-groups.ts'

const { urls, databaseUrl } = readGiven<Given>()
const pgPool = new pg.Pool({ connectionString: databaseUrl, max: 20 })
const runner = await run({
  pgPool,
  noHandleSignals: true,
  taskList: { deliver: (payload) => postSigned(payload as OwedPost).then(() => {}) },
  preset: {
    worker: {
      concurrentJobs: inFlight,
      pollInterval: 500,
      localQueue: { size: 500 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  },
})
const utils = await makeWorkerUtils({ pgPool })
const { rows } = await pgPool.query('show server_version')

const store = storeInGroups<OwedPost>((posts) =>
  utils.addJobs(posts.map((payload) => ({ identifier: 'deliver', payload, maxAttempts: 4 }))),
)

serveSender({
  about: `${readVersion('graphile-worker')}, PostgreSQL ${rows[0].server_version.split(' ')[0]}`,
  owe: (event) => store(toPosts(event, urls)),
  async countOwed() {
    const { rows } = await pgPool.query(
      'select count(*)::int owed, max(last_error) error from graphile_worker._private_jobs',
    )
    if (rows[0].error !== null) throw new Error(rows[0].error)
    return rows[0].owed
  },
  close: () => runner.stop().finally(() => pgPool.end()),
})
