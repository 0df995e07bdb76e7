import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createScriptTokens } from '../../host/access/script-tokens.ts'
import { createSecretBox } from '../../host/access/secret-box.ts'
import { issueToken } from '../../host/access/tokens.ts'
import { createAuthenticate } from '../../host/api/caller.ts'
import { type AppParts, createApp } from '../../host/app.ts'
import { readServerEvents } from '../../host/cli/client.ts'
import type { Db } from '../../host/db/db.ts'
import { listen } from '../../host/http/listen.ts'
import { createRateLimits } from '../../host/http/rate-limits.ts'
import { createChanges } from '../../host/webhooks/follow-deliveries.ts'
import { openSeeded } from '../support/seeded-database.ts'

describe('the end of the live feed', () => {
  const ends = new AsyncDisposableStack()
  let db: Db
  let url: string
  let parts: Partial<AppParts>
  before(async () => {
    const seeded = await openSeeded()
    ends.defer(seeded.close)
    db = seeded.db
    const tokens = createScriptTokens(createSecretBox(new Uint8Array(32)).deriveKey('test'))
    parts = {
      db,
      longReader: seeded.database.longReader,
      changes: createChanges(),
      authenticate: createAuthenticate(db, tokens, {
        limits: createRateLimits({ token: 0, visitor: 0 }, false),
        readSession: async () => undefined,
      }),
      state: () => ({ workers: 0, stopping: false }),
      firstLoad: () => undefined,
    }
    const { port, close } = await listen(createApp(parts as AppParts, assert.ifError), '127.0.0.1', 0)
    ends.defer(close)
    url = `http://127.0.0.1:${port}/v1/deliveries/feed`
  })
  after(() => ends.disposeAsync())

  it('ends with a reason when its token is revoked', async () => {
    const { token } = await issueToken(db, { role: 'operator', label: 'test' })
    const answer = () => fetch(url, { headers: { authorization: `Bearer ${token}` } })
    // The response stays referenced: undici cancels the body of a collected response that has no reader yet.
    const response = await answer()
    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    await db('tokens').where({ label: 'test' }).delete()
    const events = []
    for await (const event of readServerEvents(response.body ?? assert.fail('no body'))) events.push(event)
    assert.equal(events.length, 1)
    assert.equal(events[0]?.event, 'end')
    assert.match(JSON.parse(events[0]?.data ?? '').reason, /token is unknown/)
    assert.equal((await answer()).status, 401)
  })

  /** Connects and leaves more often than there are places. @returns the status that a later reader gets */
  async function comeAndLeave(port: number, meanwhile: () => void): Promise<number> {
    const { token } = await issueToken(db, { role: 'operator', label: 'test' })
    const asking = `GET /v1/deliveries/feed HTTP/1.1\r\nhost: here\r\nauthorization: Bearer ${token}\r\n\r\n`
    for (let n = 0; n < 40; n += 1) {
      const reader = connect(port, '127.0.0.1')
      reader.write(asking)
      await once(reader, 'connect')
      await sleep(5)
      reader.resetAndDestroy()
    }
    meanwhile()
    await sleep(300)
    const headers = { authorization: `Bearer ${token}` }
    const { status, body } = await fetch(`http://127.0.0.1:${port}/v1/deliveries/feed`, { headers })
    await body?.cancel()
    return status
  }

  it('frees the slot of a reader that leaves during the token check', async (t) => {
    const authenticate: AppParts['authenticate'] = async (context) => {
      await sleep(100)
      return (parts.authenticate ?? assert.fail())(context)
    }
    const app = createApp({ ...parts, authenticate } as AppParts, assert.ifError)
    const { port, close } = await listen(app, '127.0.0.1', 0)
    t.after(close)
    assert.equal(await comeAndLeave(port, () => {}), 200)
  })
})
