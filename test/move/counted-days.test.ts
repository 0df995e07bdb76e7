import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { type Annex, installSample, startAnnex } from '../support/annex.ts'
import { exportText, toRecords } from '../support/moving.ts'
import { startReceiver } from '../support/receiver.ts'
import { createTestDatabase, noPostgres } from '../support/test-database.ts'

const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { integration }) => {
    const { url, count } = await request.json()
    for (let n = 0; n < count; n++) await integration.queueDelivery({ url, event: { type: 'ping' } })
    return new Response('owed')
  },
})`

/** Delivers to a receiver, and exports at once. @returns what the export has counted as delivered */
async function countedAtOnce(annex: Annex, count: number): Promise<number> {
  const receiver = await startReceiver(200)
  try {
    const { id, endpoint } = await installSample(annex, 'counted')
    assert.equal(
      await (
        await fetch(endpoint, { method: 'POST', body: JSON.stringify({ url: receiver.url, count }) })
      ).text(),
      'owed',
    )
    await receiver.waitFor(count)
    const [counted] = toRecords(await exportText(annex, id)).filter(({ record }) => record === 'endpoint')
    return counted.days.reduce((sum: number, { delivered }: { delivered: number }) => sum + delivered, 0)
  } finally {
    await receiver.close()
  }
}

describe('what was counted of a day up to an export is in it', () => {
  it('when it was counted a moment ago', async () => {
    const annex = await startAnnex({ plugins: { counted: { script } } })
    try {
      assert.equal(await countedAtOnce(annex, 2), 2)
    } finally {
      await annex.close()
    }
  })

  it('by other hosts as well', { skip: noPostgres }, async () => {
    const database = await createTestDatabase()
    await using ends = new AsyncDisposableStack()
    ends.defer(database.drop)
    const flags = { DATABASE_URL: database.url, SECRET_KEY: randomBytes(32).toString('base64') }
    const hosts: Annex[] = []
    for (const _ of [1, 2]) {
      const annex = await startAnnex({ plugins: { counted: { script } }, flags })
      ends.defer(annex.close)
      hosts.push(annex)
    }
    assert.equal(await countedAtOnce(hosts[0] as Annex, 40), 40)
  })
})
