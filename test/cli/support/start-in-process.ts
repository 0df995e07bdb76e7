import { startAnnex } from '../../support/annex.ts'
import { cleanEnvironment, runAnnex } from './run-annex.ts'
import type { Served } from './start-serve.ts'

export type Started = Omit<Served, 'setupToken' | 'stop'>

/**
 * Starts Annex in the test's own process, with the plugins that come with Annex. Its commands find it by its data folder, as
 * they find a server. Where the process of `annex serve` is the subject, `startServe` starts that.
 */
export async function startInProcess(settings: Record<string, string> = {}): Promise<Started> {
  const { PLUGINS_DIR: pluginsDir = cleanEnvironment.PLUGINS_DIR, ...flags } = settings
  const { url, dataDir, close } = await startAnnex({ pluginsDir, flags })
  return { url, dataDir, annex: (...args) => runAnnex(args, { env: { DATA_DIR: dataDir } }), close }
}
