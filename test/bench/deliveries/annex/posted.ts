// Annex, published over POST /v1/events: through its sandbox to `queueDelivery`. The publisher has this process.
import { Pool } from 'undici'
import packageJson from '../../../../package.json' with { type: 'json' }
import { createClient } from '../../../../schemas/client.ts'
import { startAnnex } from '../../servers/start-annex.ts'
import { readGiven } from '../child-calls.ts'
import { eventType } from '../event.ts'
import { type Given, publishersAtOnce, serveSender } from '../sender.ts'
import { countOwed, installBench } from './installed.ts'

const { databaseUrl, dataDir, pluginsDir, settings } = readGiven<Given>()
const annex = await startAnnex(
  { dataDir, pluginsDir },
  {
    DATABASE_URL: databaseUrl,
    EGRESS_ALLOW: '127.0.0.1',
    ...settings,
  },
)
const { token, samples, origin: url } = annex
const { organization, space } = samples
const api = createClient({ url, token })
await installBench(api, samples)
const pool = new Pool(url, { connections: publishersAtOnce, pipelining: 1 })

serveSender({
  about: `${packageJson.version}, ${databaseUrl === '' ? 'SQLite' : 'PostgreSQL'}, POST /v1/events`,
  async owe({ eventId }) {
    const { statusCode, body } = await pool.request({
      path: `/v1/events?organization=${organization}`,
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: eventType, eventId, spaceId: space, revisionId: 'rev_1' }),
    })
    const text = await body.text()
    if (statusCode >= 300) throw new Error(`POST /v1/events answered ${statusCode}: ${text}`)
  },
  countOwed: () => countOwed(api),
  close: () => pool.destroy().finally(annex.close),
})
