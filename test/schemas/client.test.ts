import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ApiError, createClient, isApiError, NoAnnexError } from '../../schemas/client.ts'
import { type Annex, installSample, startAnnex } from '../support/annex.ts'

describe('a client of the API', () => {
  let annex: Annex
  let client: ReturnType<typeof createClient>
  before(async () => {
    annex = await startAnnex({ plugins: { echo: {} } })
    const token = readFileSync(join(annex.dataDir, 'cli.token'), 'utf8').trim()
    client = createClient({ url: annex.url, token })
  })
  after(() => annex.close())

  it('sends parameters, a query and a body, and returns the typed answer', async () => {
    const subdomain = 'client'
    const made = await client.call('POST /v1/orgs', { body: { subdomain, title: 'A client' } })
    assert.equal((await client.call('GET /v1/orgs/{org}', { params: { org: subdomain } })).id, made.id)
    const { items } = await client.call('GET /v1/orgs', { query: { limit: 1 } })
    assert.equal(items.length, 1)
    assert.equal(
      await client.call('DELETE /v1/orgs/{org}', { params: { org: made.id } }).then(() => 'ok'),
      'ok',
    )
  })

  it('reaches a site or space by the address of the account', async () => {
    const { id } = await installSample(annex, 'echo', 'site')
    const { site } = annex.server.samples
    const params = { integration: 'echo', installation: id }
    const address = 'GET /v1/integrations/{integration}/installations/{installation}' as const
    assert.equal((await client.call(address, { params })).object, 'installation')
    const level = await client.call(address, { params: { ...params, site } })
    assert.equal(level.object === 'site-installation' && level.site, site)
  })

  it('reads all pages of a list in turn', async () => {
    for (let n = 0; n < 5; n += 1)
      await client.call('POST /v1/orgs', { body: { subdomain: `listed-${n}`, title: `${n}` } })
    const found: string[] = []
    for await (const { subdomain } of client.all('GET /v1/orgs', { query: { limit: 2 } }))
      found.push(subdomain)
    assert.equal(new Set(found).size, found.length)
    assert.equal(found.filter((name) => name.startsWith('listed-')).length, 5)
  })

  it('reads a record with its ETag, and refuses an edit of an older one', async () => {
    const { id } = (await client.call('GET /v1/installations')).items[0] ?? { id: '' }
    const params = { integration: 'echo', installation: id }
    const address = 'PATCH /v1/integrations/{integration}/installations/{installation}' as const
    const { etag } = await client.read('GET /v1/installations/{installation}', { params })
    const headers = { 'if-match': etag }
    await client.call(address, { params, headers, body: { externalIds: ['one'] } })
    await assert.rejects(
      client.call(address, { params, headers, body: { externalIds: ['two'] } }),
      (error) => isApiError(error, 'precondition_failed') && error.requestId !== undefined,
    )
  })

  it('keeps each parameter inside one segment of the path', async () => {
    for (const org of ['', '.', '..']) {
      await assert.rejects(client.call('GET /v1/orgs/{org}', { params: { org } }), RangeError)
    }
    for (const org of ['../me', 'a/b', '%2e%2e', 'a?b', 'a#b', ' ']) {
      await assert.rejects(client.call('GET /v1/orgs/{org}', { params: { org } }), {
        status: 404,
        code: 'not_found',
      })
    }
  })

  it('throws an ApiError for answers of other servers, and follows no redirect', async () => {
    const answers: [status: number, body: string][] = [
      [500, '<h1>sorry</h1>'],
      [404, '{"error":"text"}'],
      [400, '{"error":{"code":1,"details":[{"path":1}]}}'],
      [200, 'no JSON'],
      [302, ''],
    ]
    const server = createServer((_, response) => {
      const [status = 500, body = ''] = answers.shift() ?? []
      response.writeHead(status, { location: annex.url }).end(body)
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const other = createClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
    const me = () => other.call('GET /v1/me')
    try {
      for (const status of [500, 404, 400]) {
        await assert.rejects(
          me(),
          (error) =>
            error instanceof ApiError &&
            error.status === status &&
            error.code === 'unknown' &&
            error.details.length === 0,
        )
      }
      await assert.rejects(me(), NoAnnexError)
      await assert.rejects(me(), /fetch failed/)
    } finally {
      server.close()
    }
  })
})
