import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createApi } from '../../../host/cli/api/create-api.ts'
import type { Installation } from '../../../host/cli/api/records.ts'
import { type MeasuredServer, startChild } from '../measured-server.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Annex as `make run` starts it, with `plugins/echo` installed: a request goes through its installation's sandbox. */
export async function startAnnex(): Promise<MeasuredServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'annex-bench-'))
  const remove = () => rm(dataDir, { recursive: true, force: true })
  try {
    const { line, close } = await startChild(
      process.execPath,
      [join(root, 'bin', 'annex.js'), 'serve', '--json'],
      {
        // Not where a `.env` may name a database.
        cwd: dataDir,
        env: {
          PATH: process.env.PATH,
          PLUGINS_DIR: join(root, 'plugins'),
          DATA_DIR: dataDir,
          PORT: '0',
          LOG_LEVEL: 'error',
        },
      },
    )
    const { url, samples } = JSON.parse(line)
    const token = (await readFile(join(dataDir, 'cli.token'), 'utf8')).trim()
    const { urls } = await createApi({ url, token }).post<Installation>(
      '/v1/integrations/echo/installations',
      { organization: samples.organization },
    )
    return { name: 'Annex', url: urls.publicEndpoint, close: () => close().finally(remove) }
  } catch (error) {
    await remove()
    throw error
  }
}
