import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { toAgreement } from '../../../host/cli/install.ts'
import { createClient } from '../../../schemas/client.ts'
import type { Installation } from '../../../schemas/generated/api/installations.ts'
import { descendantsOf } from '../measure/cpu-time.ts'
import { type MeasuredServer, startChild } from './measured-server.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Limits to try: `SANDBOX_PROCESSES=2 node test/bench/requests.ts`. */
const tried = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('SANDBOX_')))

export type BenchedAnnex = MeasuredServer & {
  origin: string
  /** The operator's. */
  organization: string
  samples: { organization: string; site: string; space: string }
  token: string
  install: (integration: string) => Promise<Installation>
}

/** The folders of an Annex: what they hold outlives its process, and goes with `remove`. */
export type AnnexFolders = { dataDir: string; pluginsDir: string; remove: () => void }

/** @param pluginsDir default: an empty one */
export function createFolders(pluginsDir?: string): AnnexFolders {
  const folder = mkdtempSync(join(tmpdir(), 'annex-bench-'))
  const folders = { dataDir: join(folder, 'data'), pluginsDir: pluginsDir ?? join(folder, 'plugins') }
  mkdirSync(folders.dataDir)
  mkdirSync(folders.pluginsDir, { recursive: true })
  return { ...folders, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Annex as `make run` starts it, as a process of its own. */
export async function startAnnex(
  { dataDir, pluginsDir }: Pick<AnnexFolders, 'dataDir' | 'pluginsDir'>,
  settings: Record<string, string> = {},
): Promise<BenchedAnnex> {
  const args = [join(root, 'bin', 'annex.js'), 'serve', '--json']
  const { line, pid, close } = await startChild(process.execPath, args, {
    // Not where a `.env` may name a database.
    cwd: dataDir,
    env: {
      PATH: process.env.PATH,
      PLUGINS_DIR: pluginsDir,
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'error',
      ...tried,
      ...settings,
    },
  })
  const { url, samples } = JSON.parse(line)
  const token = readFileSync(join(dataDir, 'cli.token'), 'utf8').trim()
  const { organization } = samples
  return {
    name: 'Annex',
    origin: url,
    urls: [],
    pid,
    behind: () => descendantsOf(pid),
    close,
    organization,
    samples,
    token,
    install: async (integration) => {
      const api = createClient({ url, token })
      const params = { integration }
      const agreement = toAgreement(await api.call('GET /v1/integrations/{integration}', { params }))
      return api.call('POST /v1/integrations/{integration}/installations', {
        params,
        body: { organization, ...agreement },
      })
    },
  }
}

/** With `plugins/echo` installed: a request goes through its installation's sandbox. */
export async function startEcho(): Promise<MeasuredServer> {
  const folders = createFolders(join(root, 'plugins'))
  try {
    const annex = await startAnnex(folders)
    const { urls } = await annex.install('echo')
    return { ...annex, urls: [urls.publicEndpoint], close: () => annex.close().finally(folders.remove) }
  } catch (error) {
    folders.remove()
    throw error
  }
}
