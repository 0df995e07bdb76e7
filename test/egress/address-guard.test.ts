import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { parseAllowList, resolveChecked } from '../../host/egress/address-guard.ts'
import { egressFetch } from '../../host/egress/fetch.ts'
import type { Resolve } from '../../host/egress/resolver.ts'
import { openEgress, serve, serveRaw, textOf } from './local-server.ts'

const limits = { timeoutMs: 5_000, maxBytes: 65_536, hops: 0 }
const get = (url: string) => ({ method: 'GET', url, headers: [], redirect: 'follow' as const })

/** Answers with one list of addresses after the other, and repeats the last. */
function scripted(...answers: string[][]): { resolve: Resolve; asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    resolve: async (hostname) => {
      asked.push(hostname)
      const addresses = answers[Math.min(asked.length, answers.length) - 1] ?? []
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
  }
}

describe('the egress guard', () => {
  it('refuses a name whose second answer is private, although the first was public', async () => {
    const { resolve } = scripted(['93.184.215.14'], ['127.0.0.1'])
    const none = parseAllowList([])
    const addresses = await resolveChecked('rebind.test', none, resolve)
    assert.deepEqual(addresses, [{ address: '93.184.215.14', family: 4 }])
    await assert.rejects(resolveChecked('rebind.test', none, resolve), { code: 'egress_refused' })
  })

  it('refuses a name when any of its addresses is private', async () => {
    const none = parseAllowList([])
    const mixed = [
      ['8.8.8.8', '10.0.0.1'],
      ['::1', '8.8.8.8'],
      ['8.8.8.8', '8.8.4.4', '64:ff9b::a9fe:a9fe'],
    ]
    for (const addresses of mixed) {
      const { resolve } = scripted(addresses)
      await assert.rejects(resolveChecked('mixed.test', none, resolve), { code: 'egress_refused' })
    }
  })

  it('resolves once for each connection, and connects to the checked address', async (t) => {
    const { port } = await serve(t, (request, response) => response.end(request.headers.host))
    const { resolve, asked } = scripted(['127.0.0.1'], ['169.254.169.254'])
    const egress = openEgress(t, { resolve })
    const answer = await egressFetch(egress, get(`http://rebind.test:${port}/`), limits)
    assert.equal(await textOf(answer), `rebind.test:${port}`)
    assert.deepEqual(asked, ['rebind.test'])
  })

  it('checks the addresses again for the next connection', async (t) => {
    const server = await serve(t, (_, response) => response.setHeader('connection', 'close').end('first'))
    const { resolve, asked } = scripted(['127.0.0.1'], ['127.0.0.2'])
    const egress = openEgress(t, { resolve })
    const url = `http://rebind.test:${server.port}/`
    assert.equal((await egressFetch(egress, get(url), limits)).status, 200)
    await assert.rejects(egressFetch(egress, get(url), limits), { code: 'egress_refused' })
    assert.equal(asked.length, 2)
    assert.equal(server.connections(), 1)
  })

  it('hides the addresses of a name from scripts', async (t) => {
    const egress = openEgress(t, { allow: [], resolve: scripted(['10.11.12.13']).resolve })
    const error = await failure(egressFetch(egress, get('http://db.internal/'), limits))
    assert.equal(
      error.message,
      'The name db.internal resolves to a private address, which requests from here may not reach. ' +
        'The operator can allow it: EGRESS_ALLOW=db.internal',
    )
  })

  it('reaches an allowed name at a private address', async (t) => {
    const { port } = await serve(t, (_, response) => response.end('in'))
    const egress = openEgress(t, { allow: ['db.internal'], resolve: scripted(['127.0.0.1']).resolve })
    assert.equal((await egressFetch(egress, get(`http://DB.internal:${port}/`), limits)).status, 200)
    await assert.rejects(egressFetch(egress, get(`http://127.0.0.1:${port}/`), limits), {
      code: 'egress_refused',
      message: /127\.0\.0\.1 is not public \(loopback\).*EGRESS_ALLOW=127\.0\.0\.1/,
    })
  })

  it('reports a name without an address', async (t) => {
    const egress = openEgress(t, { resolve: scripted([]).resolve })
    await assert.rejects(egressFetch(egress, get('http://nowhere.test/'), limits), {
      code: 'egress_failed',
      message: 'GET http://nowhere.test failed: the name does not resolve (ENOTFOUND).',
    })
  })

  it('resolves localhost by the hosts file, and refuses it', async (t) => {
    const egress = openEgress(t, { allow: [] })
    await assert.rejects(egressFetch(egress, get('http://localhost/'), limits), { code: 'egress_refused' })
  })

  it('sends the name as TLS server name', async (t) => {
    const hello = await clientHello(t)
    assert.ok(hello.includes('secure.test'), 'the client hello names the host')
  })
})

/** The first bytes of a TLS connection, which hold the server name in the clear. */
async function clientHello(t: TestContext): Promise<Buffer> {
  const { promise, resolve: received } = Promise.withResolvers<Buffer>()
  const { port } = await serveRaw(t, (socket: Socket) => {
    once(socket, 'data').then(([data]: Buffer[]) => {
      socket.destroy()
      received(data ?? Buffer.alloc(0))
    })
  })
  const egress = openEgress(t, { resolve: scripted(['127.0.0.1']).resolve })
  await assert.rejects(egressFetch(egress, get(`https://secure.test:${port}/`), limits), {
    code: 'egress_failed',
  })
  return promise
}

async function failure(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new assert.AssertionError({ message: 'it did not fail' })
}
