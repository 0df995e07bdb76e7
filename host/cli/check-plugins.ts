import type { Command } from 'commander'
import { bundleScript } from '../bundle/bundle-script.ts'
import { loadSettings } from '../config/load-settings.ts'
import { hasErrors, type Problem } from '../manifest/problems/problem.ts'
import { sdkFolder } from '../versions/load-plugins.ts'
import { type TryLoad, tryVersion } from '../versions/try-version.ts'
import { openTrial } from './commands/plugins/open-trial.ts'
import { printProblems, sayCounts } from './commands/plugins/print-problems.ts'
import { type ReadFolder, readPluginFolders } from './plugin-folders.ts'
import { exitCodes } from './report-error.ts'
import { openTerminal } from './session.ts'

/** Reads, checks, bundles and loads plugin folders as a server would, and prints all problems. */
export async function checkFolders(named: string[], command: Command): Promise<void> {
  const terminal = openTerminal(command)
  const readings = await readPluginFolders(named)
  const checked: { folder: string; name: string | null; problems: Problem[] }[] = []
  let trial: Promise<TryLoad> | undefined
  const tryLoad: TryLoad = async (integration, code) => {
    trial ??= openTrial(loadSettings().settings)
    return (await trial)(integration, code)
  }
  for (const reading of readings) {
    const problems = [...reading.problems, ...(await scriptProblems(reading, tryLoad))]
    checked.push({ folder: reading.folder, name: reading.manifest?.name ?? null, problems })
  }
  const problems = checked.flatMap((folder) => folder.problems)
  if (terminal.json) terminal.printJson(checked)
  else {
    printProblems(terminal, problems)
    sayCounts(terminal, problems, checked.length)
  }
  if (hasErrors(problems)) process.exitCode = exitCodes.invalid
}

/** A script is looked at although its manifest has errors, as long as that says which file it is. */
async function scriptProblems(reading: ReadFolder, tryLoad: TryLoad): Promise<Problem[]> {
  const { folder, script, ownFiles } = reading
  if (script === undefined) return []
  const { bundle, problems } = await bundleScript(folder, { script }, { sdkFolder, ownFiles })
  if (bundle === undefined) return problems
  const declared = reading.manifest && { scopes: reading.manifest.scopes, spot: reading.spots.scopes }
  const tried = { folder, integration: 'script', script, bundle, ownFiles, declared }
  return [...problems, ...(await tryVersion(tryLoad, tried))]
}
