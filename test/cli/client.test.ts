import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { createApi, toCommandError } from '../../host/cli/client.ts'
import { UsageError } from '../../host/cli/options.ts'
import { AnnexError } from '../../host/errors.ts'
import type { Client } from '../../schemas/client.ts'

/** What another server answers, and the error that the command reports. */
const answers: [what: string, status: number, body: string, expected: RegExp][] = [
  ['text', 200, 'Welcome', /\/v1\/me answers, but not as an Annex does\. Check --url\.$/],
  ['nothing', 200, '', /\/v1\/me answers, but not as an Annex does\. Check --url\.$/],
  ['a redirect', 302, '', /^http:\S+ does not answer \(.*\)\. Is an Annex running there\?/],
  [
    'an error page',
    502,
    '<h1>Bad gateway</h1>',
    /^The server answered 502 without saying why\. Is it an Annex\?$/,
  ],
]

describe('the client of the command line', () => {
  let answer: (typeof answers)[number] | undefined
  const server = createServer((_request, response) => {
    const [, status = 500, body = ''] = answer ?? []
    response.writeHead(status, { location: '/v1/me' }).end(body)
  })
  const clients: Client[] = []
  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const api = createApi({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
    clients.push(api, api.long)
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  for (const given of answers) {
    const [what, status, , expected] = given
    it(`explains a server that answers ${what} with ${status}`, async () => {
      answer = given
      for (const client of clients) {
        const error = await errorOf(client.call('GET /v1/me'))
        assert.match(error.message, expected)
        if (status < 400) assert.ok(error instanceof AnnexError && error.code === 'unavailable')
      }
    })
  }

  it('refuses a name that would change the path, before a request', async () => {
    answer = undefined
    for (const delivery of ['', '.', '..']) {
      for (const client of clients) {
        const error = await errorOf(client.call('GET /v1/deliveries/{delivery}', { params: { delivery } }))
        assert.ok(error instanceof UsageError)
        assert.match(error.message, /is no id and no name\./)
      }
    }
  })
})

async function errorOf(called: Promise<unknown>): Promise<Error> {
  const thrown = await called.then(
    () => assert.fail('there is an error'),
    (error) => error,
  )
  const error = toCommandError(thrown)
  assert.ok(error instanceof Error)
  return error
}
