import type { Command } from 'commander'
import { bundleScript } from '../../../bundle/bundle-script.ts'
import { hasErrors, type Problem } from '../../../manifest/problems/problem.ts'
import { sdkFolder } from '../../../versions/load-plugins.ts'
import { openTerminal } from '../../open-session.ts'
import { exitCodes } from '../../report-error.ts'
import { type ReadFolder, readPluginFolders } from './plugin-folders.ts'
import { printProblems, sayCounts } from './print-problems.ts'

/** Reads, checks and bundles plugin folders as a server would, and prints all problems. */
export async function checkFolders(named: string[], command: Command): Promise<void> {
  const terminal = openTerminal(command)
  const readings = await readPluginFolders(named)
  const checked: { folder: string; name: string | null; problems: Problem[] }[] = []
  for (const reading of readings) {
    const problems = [...reading.problems, ...(await bundleProblems(reading))]
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

/** A script is bundled only when its manifest is sound: until then nobody knows which file it is. */
async function bundleProblems({ folder, manifest }: ReadFolder): Promise<Problem[]> {
  return manifest === undefined ? [] : (await bundleScript(folder, manifest, { sdkFolder })).problems
}
