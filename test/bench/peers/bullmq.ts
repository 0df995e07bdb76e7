// BullMQ: a job for each delivery, kept with what it returned. One process publishes and works, as with Annex.
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { readGiven } from '../deliveries/child-calls.ts'
import { type OwedPost, postSigned, toPosts } from '../deliveries/post-signed.ts'
import { type Given, inFlight, serveSender } from '../deliveries/sender.ts'
import { readVersion } from './read-version.ts'
import { storeInGroups } from './store-in-groups.ts'

const { urls, databaseUrl } = readGiven<Given>()
const connection = new Redis(databaseUrl, { maxRetriesPerRequest: null })
// A connection each: publishing in large calls must not make those that finish jobs wait in line.
const workerConnection = connection.duplicate()

const queue = new Queue<OwedPost>('deliveries', { connection })
const worker = new Worker<OwedPost>('deliveries', ({ data }) => postSigned(data), {
  connection: workerConnection,
  concurrency: inFlight,
})
await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()])

const redisVersion = /redis_version:(\S+)/.exec(await connection.info('server'))?.[1]

const store = storeInGroups<OwedPost>((posts) =>
  queue.addBulk(posts.map((data) => ({ name: 'delivery', data }))),
)

serveSender({
  about: `${readVersion('bullmq')}, Redis ${redisVersion}, append-only, fsync always`,
  owe: (event) => store(toPosts(event, urls)),
  async countOwed() {
    const { failed = 0, ...owed } = await queue.getJobCounts('waiting', 'active', 'delayed', 'failed')
    if (failed > 0) throw new Error(`${failed} jobs failed`)
    return Object.values(owed).reduce((sum, count) => sum + count, 0)
  },
  close: () =>
    Promise.all([worker.close(), queue.close()]).finally(() =>
      Promise.all([connection.quit(), workerConnection.quit()]),
    ),
})
