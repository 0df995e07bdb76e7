import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Annex, startAnnex } from '../support/annex.ts'
import { type PluginSource, writePlugin } from '../support/plugin-folder.ts'
import { installPackages } from './install-packages.ts'

/** Starts Annex with plugin folders that have packages of npm in them. */
export async function startWithPackages(
  plugins: Record<string, PluginSource & { packages: string[] }>,
): Promise<Annex> {
  const folder = mkdtempSync(join(tmpdir(), 'annex-packages-'))
  for (const [name, { packages, ...source }] of Object.entries(plugins)) {
    installPackages(writePlugin(folder, name, source), ...packages)
  }
  // The limit is not the matter here, and a machine may be slow.
  const annex = await startAnnex({
    sandboxes: 'processes',
    pluginsDir: folder,
    flags: { SANDBOX_CPU_MS: '10000' },
  })
  const close = async () => {
    await annex.close()
    rmSync(folder, { recursive: true, force: true })
  }
  const problems = annex.server.plugins.flatMap((plugin) => plugin.problems)
  if (problems.length > 0) {
    await close()
    throw new Error(problems.map(({ file, line, message }) => `${file}:${line} ${message}`).join('\n'))
  }
  return { ...annex, close }
}
