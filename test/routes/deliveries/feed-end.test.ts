import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createScriptTokens } from '../../../host/access/script-tokens.ts'
import { createSecretBox } from '../../../host/access/secret-box.ts'
import { issueToken } from '../../../host/access/tokens.ts'
import { createApp } from '../../../host/app.ts'
import { readServerEvents } from '../../../host/cli/api/event-stream.ts'
import type { Db } from '../../../host/db/db.ts'
import { createAuthenticate } from '../../../host/http/caller.ts'
import { listen } from '../../../host/http/listen.ts'
import type { RouteParts } from '../../../host/routes/parts.ts'
import { createChanges } from '../../../host/webhooks/operating/changes.ts'
import { openSeeded } from '../../support/seeded-database.ts'

describe('the live feed ends', () => {
  const ends = new AsyncDisposableStack()
  let db: Db
  let url: string
  before(async () => {
    const seeded = await openSeeded()
    ends.defer(seeded.close)
    db = seeded.db
    const tokens = createScriptTokens(createSecretBox(new Uint8Array(32)).deriveKey('test'))
    const parts: Partial<RouteParts> = {
      ...{ db, longReader: seeded.database.longReader, changes: createChanges() },
      authenticate: createAuthenticate(db, tokens),
      state: () => ({ workers: 0, stopping: false }),
    }
    const { port, close } = await listen(createApp(parts as RouteParts, assert.ifError), '127.0.0.1', 0)
    ends.defer(close)
    url = `http://127.0.0.1:${port}/v1/deliveries/feed`
  })
  after(() => ends.disposeAsync())

  it('when its token is revoked, and says so', async () => {
    const token = await issueToken(db, { kind: 'operator', label: 'test' })
    const answer = () => fetch(url, { headers: { authorization: `Bearer ${token}` } })
    const { status, headers, body } = await answer()
    assert.equal(status, 200)
    assert.match(headers.get('content-type') ?? '', /^text\/event-stream/)
    assert.equal(headers.get('cache-control'), 'no-store')
    await db('tokens').where({ label: 'test' }).delete()
    const events = []
    for await (const event of readServerEvents(body ?? assert.fail('no body'))) events.push(event)
    assert.equal(events.length, 1)
    assert.equal(events[0]?.event, 'end')
    assert.match(JSON.parse(events[0]?.data ?? '').reason, /token is unknown/)
    assert.equal((await answer()).status, 401)
  })
})
