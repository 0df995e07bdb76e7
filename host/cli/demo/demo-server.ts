import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadSettings } from '../../config/load-settings.ts'
import { startServer } from '../../server.ts'
import { type Api, createApi } from '../client.ts'

export type DemoServer = { api: Api; site: string; organization: string; close: () => Promise<void> }

const pluginsDir = fileURLToPath(new URL('../../../plugins', import.meta.url))

/**
 * A server on a free port of loopback, with the plugins of this repository and a data folder that is removed at its
 * end. It reads no settings of the machine, so that it touches no database but its own.
 */
export async function startDemoServer(): Promise<DemoServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'annex-demo-'))
  const remove = () => rm(dataDir, { recursive: true, force: true })
  const flags = {
    DATA_DIR: dataDir,
    PLUGINS_DIR: pluginsDir,
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'silent',
    // The receiver is on loopback, where deliveries do not go unless the operator says so.
    EGRESS_ALLOW: '127.0.0.1',
  }
  try {
    const loaded = loadSettings({ flags, environment: {}, envFile: join(dataDir, 'none') })
    const server = await startServer(loaded)
    const token = (await readFile(join(dataDir, 'cli.token'), 'utf8')).trim()
    return {
      api: createApi({ url: server.url, token }),
      ...server.samples,
      close: () => server.close().finally(remove),
    }
  } catch (error) {
    await remove()
    throw error
  }
}
