// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
import pg from 'pg'
import { stepNames } from '../../host/db/migrate.ts'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'
import { readingReceivers } from '../support/reading-receivers.ts'
import { createEmptyDatabase, noPostgres } from '../support/test-database.ts'

const fixture = fileURLToPath(new URL('../fixtures/data-963fae2', import.meta.url))
const kept: Json = JSON.parse(readFileSync(join(fixture, 'expected.json'), 'utf8'))
const unpack = (name: string) => brotliDecompressSync(readFileSync(join(fixture, name)))
const signedBy = readingReceivers['takes any part']

type Received = { path: string; headers: IncomingHttpHeaders; body: string }

/** The addresses are stored in the fixture. Another run of this test may have the port for a while. */
async function listen(port: number, answer: RequestListener): Promise<Server> {
  for (;;) {
    const server = createServer(answer).listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
      return server
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
      await wait(500)
    }
  }
}

const databases = { SQLite: false, PostgreSQL: noPostgres }
for (const [database, skip] of Object.entries(databases)) {
  describe(`the data of 963fae2 on ${database}, after an upgrade`, { skip }, () => {
    const ends = new AsyncDisposableStack()
    const received: Received[] = []
    const refreshed: Record<string, string>[] = []
    let annex: Annex
    before(async () => {
      const folder = mkdtempSync(join(tmpdir(), 'annex-upgrade-'))
      ends.defer(() => rmSync(folder, { recursive: true, force: true }))
      const dataDir = join(folder, 'data')
      mkdirSync(dataDir, { mode: 0o700 })
      for (const name of ['secret.key', 'cli.token', 'host.id']) {
        copyFileSync(join(fixture, name), join(dataDir, name))
        chmodSync(join(dataDir, name), 0o600)
      }
      cpSync(join(fixture, 'plugins'), join(folder, 'plugins'), { recursive: true })
      writeFileSync(join(folder, '.env'), `LEDGER_PROVIDER_URL=http://127.0.0.1:${kept.ports.provider}\n`)
      let url = ''
      if (database === 'SQLite') writeFileSync(join(dataDir, 'annex.sqlite'), unpack('annex.sqlite.br'))
      else url = await restore(ends)
      await receive(ends, received, refreshed)
      annex = await startAnnex({
        dataDir,
        pluginsDir: join(folder, 'plugins'),
        envFile: join(folder, '.env'),
        // The fixture grows old.
        flags: { DATABASE_URL: url, RETENTION_DAYS: '0', DELIVERY_GIVE_UP_HOURS: '87600' },
      })
      ends.defer(annex.close)
    })
    after(() => ends.disposeAsync())

    const get = async (path: string, token?: string): Promise<Json> => {
      const { status, json, text } = await annex.api('GET', path, undefined, token)
      assert.equal(status, 200, `${path}: ${text}`)
      return json
    }
    const listed = async (path: string): Promise<Json[]> =>
      (await get(`${path}${path.includes('?') ? '&' : '?'}limit=1000`)).items
    const endpoint = (name: string) => annex.url + kept.endpoints[name]

    it('has each record, and all of its history', async () => {
      for (const [path, count] of Object.entries(kept.counts)) {
        const { length } = await listed(path)
        // An upgrade adds to history, as attempts and versions do.
        assert.ok(length >= Number(count), `${path}: ${length} of ${count}`)
      }
    })

    it('has each installation in its state at each level', async () => {
      for (const [name, [path, status]] of Object.entries<string[]>(kept.statuses)) {
        assert.equal((await get(String(path))).status, status, name)
      }
    })

    it('accepts each token with its role, and no revoked one', async () => {
      const { acme } = kept.organizations
      for (const role of ['cli', 'operator', 'reader', 'editor', 'admin', 'ci']) {
        assert.equal((await get(`/v1/orgs/${acme}`, kept.tokens[role])).subdomain, 'acme')
      }
      const site = { slug: 'by-a-token', title: 'By a token' }
      const create = (role: string) => annex.api('POST', `/v1/orgs/${acme}/sites`, site, kept.tokens[role])
      assert.equal((await create('reader')).status, 403)
      assert.equal((await create('revoked')).status, 401)
      assert.equal((await create('admin')).status, 201)
    })

    it('gives scripts their settings and secrets, and hides secrets from people', async () => {
      const read = async (name: string): Promise<Json> => (await fetch(endpoint(name))).json()
      const account = { region: 'eu', api_key: 'the-key-of-the-account', limit: 7 }
      assert.deepEqual(await read('notifier in acme'), { status: 'active', configuration: account })
      const down = `http://127.0.0.1:${kept.ports.down}`
      assert.deepEqual(await read('notifier in acme: docs'), {
        status: 'active',
        configuration: { ...account, webhook_url: `${down}/site`, loud: false },
      })
      assert.equal((await read('notifier in acme: guide')).configuration.webhook_url, `${down}/space`)
      assert.equal((await read('notifier in acme: notes')).status, 'pending')
      const { configuration } = await get(kept.paths.notifier)
      assert.deepEqual(configuration, { region: 'eu', api_key: '[secret]', limit: 7 })
    })

    it('runs the agreed version in one organization, and the pinned one in another', async () => {
      const answer = async (name: string) => (await fetch(endpoint(name))).text()
      assert.equal(await answer('waits in acme'), 'first version')
      assert.equal(await answer('waits in home'), 'second version')
      assert.equal(await answer('pinned in acme'), 'first version')
    })

    it('refreshes a connection with its stored refresh token', async () => {
      const answer = await fetch(endpoint('ledger in acme'))
      assert.equal(await answer.text(), 'second-access')
      const [{ grant_type, refresh_token } = {}] = refreshed
      assert.deepEqual([grant_type, refresh_token], ['refresh_token', 'the-refresh-token'])
      assert.equal((await get(kept.paths.ledger)).connections.account.state, 'connected')
    })

    it('keeps a link of an unlisted integration, which installs it elsewhere', async () => {
      const versions = await listed('/v1/integrations/ledger/versions')
      const { status, text } = await annex.api('POST', '/v1/integrations/ledger/installations', {
        ...{ organization: 'late', installKey: kept.installKey, scopes: [] },
        version: Math.max(...versions.map(({ number }) => number)),
      })
      assert.equal(status, 201, text)
    })

    it('accepts views by the key of a site, and shows revisions and pages', async () => {
      const { site, siteKey, space, revision } = kept.places
      const view = await fetch(`${annex.url}/v1/sites/${site}/views`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain', origin: 'https://docs.acme.example' },
        body: JSON.stringify({ key: siteKey, url: 'https://docs.acme.example/start' }),
      })
      assert.equal(view.status, 202, await view.text())
      const current = await get(`/v1/spaces/${space}/content/page/start`)
      assert.equal(current.markdown, 'The second text.')
      const [changed] = (await get(`/v1/spaces/${space}/revisions/${revision}/changes`)).changes
      assert.equal(changed.type, 'page_edited')
    })

    it('delivers pending deliveries, each signed by the secret of its receiver', async () => {
      assert.equal((await annex.api('POST', `/v1/receivers/${kept.heldReceiver}/resume`, {})).status, 200)
      assert.equal((await annex.api('POST', `${kept.paths.counter}/resume`, {})).status, 200)
      const find = ({ path, eventId }: Json) =>
        received.find((one) => one.path === path && JSON.parse(one.body).eventId === eventId)
      await until(
        async () => kept.deliveries.filter((one: Json) => find(one) === undefined),
        (missing) => missing.length === 0,
      )
      for (const one of kept.deliveries) {
        const { headers, body } = find(one) as Received
        const header = String(headers['x-service-signature'])
        assert.ok(signedBy(header, body, kept.secrets[one.secret]), `${one.path} ${one.eventId}`)
      }
      await until(
        () => listed('/v1/deliveries'),
        (items) => items.every(({ state }) => state === 'delivered'),
      )
    })

    it('has the stored values of scripts', async () => {
      const read = async (name: string, key: string): Promise<Json> =>
        (await fetch(`${endpoint(name)}?key=${key}`)).json()
      assert.deepEqual((await read('counter in acme', 'visits')).own, { count: 41, last: 'über' })
      assert.equal((await read('counter in acme: docs', 'visits')).own, 'of the site')
      assert.deepEqual((await read('counter in acme', 'all')).shared, [1, 2, 3])
    })
  })
}

/** Restores the dump into a database of its own. @returns its address */
async function restore(ends: AsyncDisposableStack): Promise<string> {
  const { url, drop } = await createEmptyDatabase()
  ends.defer(drop)
  const client = new pg.Client(url)
  await client.connect()
  await client.query(unpack('annex.sql.br').toString())
  await client.end()
  return url
}

/** The receivers and the provider of the fixture. */
async function receive(
  ends: AsyncDisposableStack,
  received: Received[],
  refreshed: Record<string, string>[],
): Promise<void> {
  const take = async (request: AsyncIterable<Buffer>): Promise<string> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    return Buffer.concat(chunks).toString('utf8')
  }
  const { good, down, hangs, provider } = kept.ports
  const servers = await Promise.all([
    ...[good, down, hangs].map((port) =>
      listen(port, async (request, response) => {
        const { url: path = '', headers } = request
        received.push({ path, headers, body: await take(request) })
        response.end('{}')
      }),
    ),
    listen(provider, async (request, response) => {
      refreshed.push(Object.fromEntries(new URLSearchParams(await take(request))))
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          access_token: 'second-access',
          refresh_token: 'the-refresh-token',
          expires_in: 3600,
        }),
      )
    }),
  ])
  for (const server of servers) ends.defer(() => void server.close().closeAllConnections())
}

// A step that has run at an operator's is never run again: a change of its file would reach new databases alone.
const released = {
  '001-tables.ts': '42ad9e6b08db2f37e4926b85a82bfd1d34d3e9ab46cbc1b2ea07b35d445885c3',
  'integration-tables.ts': 'ba2d7f5dba9f551408644fdc0edea6fe0b49d2ee819efd5dc3e53818e1aa8024',
  'place-tables.ts': '46bfd86cffd99a0c6d8c0d300947600adf67911edc1d4ed9a6f88005e8706040',
  'work-tables.ts': 'bc048a9527fbb524ce44d1f887d843a28791da71575237f644ce7b164c0f9d63',
}

describe('migrations', () => {
  it('are only appended, in the order of their numbers', () => {
    assert.equal(stepNames[0], '001-tables')
    assert.deepEqual(stepNames, stepNames.toSorted())
    assert.equal(new Set(stepNames.map((name) => name.slice(0, 3))).size, stepNames.length)
  })

  for (const [name, digest] of Object.entries(released)) {
    it(`never change after their release: ${name}`, () => {
      const file = new URL(`../../host/db/migrations/${name}`, import.meta.url)
      assert.equal(
        hash('sha256', readFileSync(file)),
        digest,
        'Operators have run it. Restore it, and append another migration.',
      )
    })
  }
})
