// databases: PostgreSQL

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startAnnex, until } from '../support/annex.ts'
import { createTestDatabase, noPostgres } from '../support/test-database.ts'

const pluginsDir = fileURLToPath(new URL('../../plugins', import.meta.url))

/**
 * Stands between Annex and PostgreSQL, and cuts the connection on which `mark` was said when it commits: `before` the
 * server has heard of it, or `after` that, before its answer is passed on. Once.
 */
async function startCutter(server: URL, mark: string, when: 'before' | 'after') {
  let isCut = false
  const proxy = createServer((client) => {
    const behind = connect(Number(server.port), server.hostname)
    let isMarked = false
    let isCommitting = false
    const cut = () => {
      isCut = true
      client.destroy()
      behind.destroy()
    }
    client.on('data', (bytes) => {
      const said = bytes.toString('latin1')
      isMarked ||= said.includes(mark)
      isCommitting = isMarked && !isCut && said.includes('COMMIT')
      if (isCommitting && when === 'before') cut()
      else behind.write(bytes)
    })
    behind.on('data', (bytes) => (isCommitting ? cut() : client.write(bytes)))
    for (const [one, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      one.on('close', () => other.destroy()).on('error', () => other.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = new URL(server)
  url.port = String((proxy.address() as AddressInfo).port)
  return { url: url.href, isCut: () => isCut, close: () => void proxy.close() }
}

describe('a commit whose connection is lost', { skip: noPostgres }, () => {
  for (const [when, repeated] of [
    ['before', { status: 202, duplicate: false }],
    ['after', { status: 200, duplicate: true }],
  ] as const) {
    it(`${when} the server has it is a 503, and the same eventId is stored once`, async () => {
      await using ends = new AsyncDisposableStack()
      const made = await createTestDatabase()
      ends.defer(made.drop)
      const cutter = await startCutter(new URL(made.url), 'evt_cut', when)
      ends.defer(cutter.close)
      const annex = await startAnnex({ pluginsDir, flags: { DATABASE_URL: cutter.url } })
      ends.defer(annex.close)
      const { organization, site } = annex.server.samples
      const publish = () =>
        annex.api('POST', `/v1/events?organization=${organization}`, {
          ...{ type: 'site_view', siteId: site, eventId: 'evt_cut' },
          visitor: { anonymousId: 'v', userAgent: 'test', ip: '203.0.113.7', cookies: {} },
          ...{ url: 'https://docs.example/', referrer: 'https://docs.example/' },
        })
      const lost = await publish()
      assert.ok(cutter.isCut())
      assert.deepEqual([lost.status, lost.json.error.code], [503, 'storage_unsure'], lost.text)
      assert.equal(lost.headers.get('retry-after'), '1')
      assert.match(lost.json.error.message, /may or may not be stored.* same eventId/)
      const again = await publish()
      assert.deepEqual({ status: again.status, duplicate: again.json.duplicate }, repeated, again.text)
      assert.deepEqual((await publish()).json.duplicate, true)
      await until(
        () => annex.api('GET', '/readyz'),
        ({ status }) => status === 200,
      )
    })
  }
})
