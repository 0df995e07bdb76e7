import pg from 'pg'
import { messageOf } from '../../../host/errors.ts'
import { findPostgres, startPostgres } from '../../support/postgres-server.ts'
import { createTestDatabase } from '../../support/test-database.ts'
import { installPeers } from '../peers/install-peers.ts'
import { startRedis } from '../peers/start-redis.ts'
import { createFolders } from '../servers/start-annex.ts'
import { writeBenchPlugin } from './annex/installed.ts'
import { type Child, startChild } from './child-calls.ts'
import type { Given, SenderMethods } from './sender.ts'

const bench = new URL('..', import.meta.url)

export type SideName = keyof typeof sides

/** What is compared: a program, and the store that it needs. */
const sides = {
  'bare loop': { script: 'deliveries/bare-loop.ts', store: 'none' },
  BullMQ: { script: 'peers/bullmq.ts', store: 'redis' },
  'graphile-worker': { script: 'peers/graphile-worker.ts', store: 'postgres' },
  'pg-boss': { script: 'peers/pg-boss.ts', store: 'postgres' },
  'SQLite alone': { script: 'deliveries/alone/store-alone.ts', store: 'none' },
  'plain queue': { script: 'deliveries/alone/plain-queue.ts', store: 'none' },
  'PostgreSQL alone': { script: 'deliveries/alone/store-alone.ts', store: 'postgres' },
  'Annex, SQLite, in process': { script: 'deliveries/annex/in-process.ts', store: 'none' },
  'Annex, SQLite, POST /v1/events': { script: 'deliveries/annex/posted.ts', store: 'none' },
  'Annex, PostgreSQL, in process': { script: 'deliveries/annex/in-process.ts', store: 'postgres' },
} as const

export const sideNames = Object.keys(sides) as SideName[]

export type Side = Child<SenderMethods> & {
  name: SideName
  about: string
  /** The place of Annex’s data, to read or change between two starts. */
  data: { databaseUrl: string; dataDir: string }
  /** Ends its process and keeps its store. */
  stop: () => Promise<void>
  /** Starts it once more on the same store, after `stop` or `kill`. */
  startAgain: () => Promise<Side>
}

/**
 * Starts one side with a store of its own, empty, which goes when it is closed.
 *
 * @param urls the receivers of each event
 * @throws Error in words for the report when it cannot run on this machine
 */
export async function startSide(
  name: SideName,
  urls: string[],
  settings: Record<string, string> = {},
): Promise<Side> {
  const { script, store } = sides[name]
  const ends = new AsyncDisposableStack()
  try {
    const folders = createFolders()
    ends.defer(() => folders.remove())
    if (script.startsWith('peers/')) await installPeers()
    else writeBenchPlugin(folders.pluginsDir, urls)
    const { url: databaseUrl, close } = await startStore(store)
    ends.defer(close)
    const { dataDir, pluginsDir } = folders
    const given: Given = { urls, databaseUrl, dataDir, pluginsDir, settings }
    const start = async (): Promise<Side> => {
      const child = await startChild<SenderMethods>(new URL(script, bench), given)
      ends.defer(child.close)
      return {
        ...{ ...child, name, about: await child.call('about', undefined), data: { databaseUrl, dataDir } },
        ...{ stop: child.close, startAgain: start, close: () => ends.disposeAsync() },
      }
    }
    return await start()
  } catch (error) {
    await ends.disposeAsync()
    throw error
  }
}

async function startStore(store: (typeof sides)[SideName]['store']) {
  if (store === 'none') return { url: '', close: async () => {} }
  if (store === 'redis') {
    return startRedis().catch((error) => {
      throw new Error(`no Redis (Debian: redis-server): ${messageOf(error)}`)
    })
  }
  return startDurablePostgres()
}

/** @throws Error when what it has acknowledged would not be on the disk: such a server is no peer */
async function startDurablePostgres() {
  const { url, drop } = await createTestDatabase()
  if (url !== '') {
    if (await isDurable(url)) return { url, close: drop }
    await drop()
    throw new Error('the PostgreSQL of DATABASE_URL_TEST has fsync or synchronous_commit off')
  }
  const found = findPostgres()
  if (found === undefined)
    throw new Error('no PostgreSQL: none is installed, and DATABASE_URL_TEST names none')
  return startPostgres(found, { fsync: true })
}

async function isDurable(url: string): Promise<boolean> {
  const client = new pg.Client(url)
  await client.connect()
  const show = async (setting: string) => Object.values((await client.query(`show ${setting}`)).rows[0])[0]
  const values = [await show('fsync'), await show('synchronous_commit')]
  await client.end()
  return values.every((value) => value === 'on')
}
