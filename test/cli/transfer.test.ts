import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { createTransfer, type Transfer } from '../../host/cli/api/transfer.ts'

/** In place of the 300 s after which a fetch gives up. */
const patienceMs = 300
const workMs = 2_000

/** Calls `run` with a transfer to a server that answers like that. */
async function withServer(
  answer: RequestListener,
  run: (transfer: Transfer) => Promise<void>,
): Promise<void> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    await run(createTransfer({ url, token: 'secret' }))
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

describe('what is sent to and from a server that takes its time', () => {
  const usual = getGlobalDispatcher()
  before(() => {
    setGlobalDispatcher(new Agent({ headersTimeout: patienceMs, bodyTimeout: patienceMs }))
  })
  after(() => setGlobalDispatcher(usual))

  it('waits for its answer, and for what comes after a pause', async () => {
    const answer: RequestListener = async (request, response) => {
      const sent = await text(request)
      await sleep(workMs)
      response.write(`${request.method} ${request.url} ${request.headers.authorization} `)
      await sleep(workMs)
      response.end(sent)
    }
    await withServer(answer, async ({ download }) => {
      const lines = await download('/v1/x', {})
      assert.equal(await text(lines), 'POST /v1/x Bearer secret ')
    })
    const imported: RequestListener = async (request, response) => {
      const sent = await text(request)
      await sleep(workMs)
      response.writeHead(201).end(JSON.stringify({ bytes: sent.length, own: request.headers['x-own'] }))
    }
    await withServer(imported, async ({ upload }) => {
      const body = Readable.from([Buffer.alloc(100_000), Buffer.alloc(100_000)])
      assert.deepEqual(await upload('/', { 'x-own': 'yes' }, body), { bytes: 200_000, own: 'yes' })
    })
  })

  it('has the answer of a server that does not read on', async () => {
    const refuse: RequestListener = (_request, response) => {
      response.writeHead(401).end(JSON.stringify({ error: { code: 'unauthorized', message: 'Who is it?' } }))
    }
    const endless = new Readable({
      read() {
        this.push(Buffer.alloc(65_536))
      },
    })
    await withServer(refuse, async ({ upload }) => {
      await assert.rejects(upload('/', {}, endless), { status: 401, message: /Who is it/ })
    })
    assert.ok(endless.destroyed, 'nothing more of it is read')
  })

  it('ends with an error when the connection does', async () => {
    const breakOff: RequestListener = (_request, response) => {
      response.write('half', () => response.destroy())
    }
    await withServer(breakOff, async ({ download }) => {
      await assert.rejects(download('/', {}).then(text))
    })
    await withServer(
      (request) => request.destroy(),
      async ({ upload }) => {
        await assert.rejects(upload('/', {}, Readable.from(['x'])), {
          code: 'unavailable',
          message: /^http:\/\/127\.0\.0\.1:\d+ does not answer \(.+\)\.$/,
        })
      },
    )
  })

  it('takes its token nowhere else, and says what of its own body cannot be read', async () => {
    let asked = 0
    const redirect: RequestListener = (_request, response) => {
      asked += 1
      response.writeHead(307, { location: '/elsewhere' }).end()
    }
    await withServer(redirect, async ({ download }) => {
      await assert.rejects(download('/', {}))
    })
    assert.equal(asked, 1)
    const torn = new Readable({ read: () => torn.destroy(new Error('a disk failed')) })
    await withServer(
      () => {},
      async ({ upload }) => {
        await assert.rejects(upload('/', {}, torn), /a disk failed/)
      },
    )
  })
})
