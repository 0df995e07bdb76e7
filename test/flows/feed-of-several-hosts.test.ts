// databases: PostgreSQL

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import { readServerEvents } from '../../host/cli/client.ts'
import { installSample, startAnnex } from '../support/annex.ts'
import { startReceiver } from '../support/receiver.ts'
import { owe, senderPlugin } from '../support/sender.ts'
import { createTestDatabase, noPostgres } from '../support/test-database.ts'

it('the live feed of one host shows the deliveries of another, each change once', {
  skip: noPostgres,
}, async () => {
  const ends = new AsyncDisposableStack()
  try {
    const made = await createTestDatabase()
    ends.defer(made.drop)
    const receiver = await startReceiver(503, 200)
    ends.defer(receiver.close)
    const flags = { DATABASE_URL: made.url, SECRET_KEY: randomBytes(32).toString('base64') }
    const plugins = { sender: senderPlugin }
    const busy = await startAnnex({ plugins, flags })
    ends.defer(busy.close)
    const watched = await startAnnex({ plugins, flags })
    ends.defer(watched.close)
    const { endpoint } = await installSample(busy, 'sender')
    const { organization } = busy.server.samples
    const { token } = (await busy.api('POST', `/v1/orgs/${organization}/tokens`, {})).json
    const answer = await fetch(`${watched.url}/v1/deliveries/feed`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const ids = await owe(endpoint, { url: receiver.url }, 20)
    const seen: string[] = []
    let settled = 0
    for await (const { event, data } of readServerEvents(answer.body ?? assert.fail('no body'))) {
      const { delivery, attempt } = JSON.parse(data)
      seen.push(`${event} ${delivery.id} ${attempt?.number ?? ''}`)
      if (event === 'settled') settled += 1
      if (settled === ids.length) break
    }
    assert.equal(new Set(seen).size, seen.length, 'nothing twice')
    for (const id of ids) assert.ok(seen.includes(`pending ${id} `) && seen.includes(`settled ${id} `), id)
    // One of them was turned away at first.
    assert.equal(seen.filter((text) => text.startsWith('attempt')).length, ids.length + 1)
  } finally {
    await ends.disposeAsync()
  }
})
