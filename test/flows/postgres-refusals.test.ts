// databases: PostgreSQL

import assert from 'node:assert/strict'
import { it } from 'node:test'
import pg from 'pg'
import { startAnnex, until } from '../support/annex.ts'
import { findPostgres, startPostgres } from '../support/postgres-server.ts'
import { noPostgres } from '../support/test-database.ts'

const bin = findPostgres()
const skip =
  noPostgres || (bin === undefined && 'no programs of PostgreSQL on this machine, for a server that refuses')

const reload = 'select pg_reload_conf()'
const others = 'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()'

/** Not a statement: waits until Annex has new sessions, which a reload would reach at an unknown time. */
const answersAgain = ''

/** What a server does to its clients, and what ends it. */
const refusals: [what: string, begin: string[], end: string[]][] = [
  [
    'only takes readers, as after a failover',
    ['alter system set default_transaction_read_only = on', reload],
    ['set transaction_read_only = off', 'alter system reset default_transaction_read_only', reload],
  ],
  [
    'ends statements that take too long',
    ["alter role annex set statement_timeout = '300ms'", others, answersAgain, 'begin', 'lock table events'],
    ['rollback', 'alter role annex reset statement_timeout', others],
  ],
  [
    'takes no connections for a moment',
    ['alter database annex allow_connections false', others],
    ['alter database annex allow_connections true'],
  ],
  [
    'has no room for another connection',
    ['alter role annex connection limit 0', others],
    ['alter role annex connection limit -1'],
  ],
  ['lets nobody in', ['alter role annex nologin', others], ['alter role annex login']],
]

async function outside(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(statement)
  await client.end()
}

it('a temporary refusal of PostgreSQL is a 503 storage_busy, after which publishers repeat their events', {
  skip,
}, async () => {
  await using ends = new AsyncDisposableStack()
  const server = await startPostgres(bin ?? '')
  ends.defer(server.close)
  await outside(server.url, 'create database annex')
  const url = server.url.replace(/\/postgres$/, '/annex')
  const admin = new pg.Client(url)
  await admin.connect()
  ends.defer(() => admin.end())
  await admin.query('create role annex login')
  await admin.query('grant create on schema public to annex')
  const annex = await startAnnex({
    flags: { DATABASE_URL: url.replace('postgres@', 'annex@') },
  })
  ends.defer(annex.close)
  const { organization, site } = annex.server.samples
  const publish = () =>
    annex.api('POST', `/v1/events?organization=${organization}`, {
      type: 'site_view',
      siteId: site,
      visitor: { anonymousId: 'v', userAgent: 'test', ip: '203.0.113.7', cookies: {} },
      url: 'https://docs.example/',
      referrer: 'https://docs.example/',
    })
  // No session of a database closes that database.
  const run = (statement: string) =>
    statement.startsWith('alter database') ? outside(server.url, statement) : admin.query(statement)
  for (const [what, begin, end] of refusals) {
    assert.equal((await publish()).status, 202, `before: ${what}`)
    for (const statement of begin) {
      if (statement === answersAgain) await until(publish, ({ status }) => status === 202)
      else await run(statement)
    }
    const refused = await until(publish, ({ status }) => status !== 202)
    assert.deepEqual([refused.status, refused.json.error.code], [503, 'storage_busy'], what)
    assert.match(refused.json.error.message, /Nothing was stored: send it again later/)
    assert.equal(refused.headers.get('retry-after'), '1')
    // Reads have a connection where only writes are refused.
    const read = await annex.api('GET', '/v1/deliveries')
    assert.ok([200, 503].includes(read.status), `${what}: ${read.text}`)
    assert.notEqual(read.json.error?.code, 'internal', what)
    for (const statement of end) await run(statement)
    await until(publish, ({ status }) => status === 202)
  }
})
