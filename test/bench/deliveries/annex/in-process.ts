// Annex, published in process: a whole server, whose deliveries the function behind `queueDelivery` stores.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadSettings } from '../../../../host/config/load-settings.ts'
import { startServer } from '../../../../host/server.ts'
import packageJson from '../../../../package.json' with { type: 'json' }
import { createClient } from '../../../../schemas/client.ts'
import { readGiven } from '../child-calls.ts'
import { type Given, serveSender } from '../sender.ts'
import { countOwed, installBench } from './installed.ts'

const { urls, databaseUrl, dataDir, pluginsDir, settings } = readGiven<Given>()
const flags = {
  ...{ PORT: '0', LOG_LEVEL: 'error', EGRESS_ALLOW: '127.0.0.1' },
  ...{ DATABASE_URL: databaseUrl, DATA_DIR: dataDir, PLUGINS_DIR: pluginsDir },
  ...settings,
}
const server = await startServer(loadSettings({ flags, environment: {}, envFile: '/nowhere/.env' }))
const api = createClient({
  url: server.url,
  token: readFileSync(join(server.settings.DATA_DIR, 'cli.token'), 'utf8').trim(),
})
const installationId = await installBench(api, server.samples)

serveSender({
  about: `${packageJson.version}, ${databaseUrl === '' ? 'SQLite' : 'PostgreSQL'}, published in process`,
  owe(event) {
    const { type: eventType, eventId } = event
    const body = JSON.stringify(event)
    const owed = { installationId, signedBy: 'installation', eventType, eventId, body, hops: 0 }
    return Promise.all(urls.map((url) => server.queueDelivery({ ...owed, url })))
  },
  countOwed: () => countOwed(api),
  close: server.close,
})
