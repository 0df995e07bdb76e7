import type { Command } from 'commander'
import { buildProcessCode, bundlePrelude } from '../bundle/build-runtime.ts'
import { bundleScript } from '../bundle/bundle-script.ts'
import { loadSettings, type Settings } from '../config/load-settings.ts'
import { hasErrors, type Problem } from '../manifest/problem.ts'
import { makeSnapshot } from '../sandbox/process/snapshot.ts'
import { createTryLoad } from '../sandbox/try-load.ts'
import { reachWall } from '../sandbox/wall/reach-wall.ts'
import { limitsOf } from '../start/start-sandboxes.ts'
import { sdkFolder } from '../versions/load-plugins.ts'
import { type TryLoad, tryVersion } from '../versions/try-version.ts'
import { exitCodes } from './exit.ts'
import { type ReadFolder, readPluginFolders } from './plugin-folders.ts'
import { openTerminal } from './session.ts'
import { paint, printProblems, type Terminal } from './terminal.ts'

/** Checks, bundles and loads plugin folders as a server does, and prints all problems. */
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

/** Checks the script too when its manifest has errors, as long as the manifest names the script. */
async function scriptProblems(reading: ReadFolder, tryLoad: TryLoad): Promise<Problem[]> {
  const { folder, script, ownFiles } = reading
  if (script === undefined) return []
  const { bundle, problems } = await bundleScript(folder, { script }, { sdkFolder, ownFiles })
  if (bundle === undefined) return problems
  const declared = reading.manifest && { scopes: reading.manifest.scopes, frame: reading.frames.scopes }
  const tried = { folder, integration: 'script', script, bundle, ownFiles, declared }
  return [...problems, ...(await tryVersion(tryLoad, tried))]
}

/**
 * Loads scripts behind the same wall as a server does. It writes no file: DATA_DIR may belong to another user.
 *
 * @throws AnnexError `sandbox_unavailable`
 */
async function openTrial(settings: Settings): Promise<TryLoad> {
  const [code, prelude] = await Promise.all([buildProcessCode(), bundlePrelude()])
  const { enclosure } = await reachWall(code.probe, settings.SANDBOX_REQUIRE)
  const snapshot = await makeSnapshot({ enclosure, code: code.snapshotMaker }, prelude)
  return createTryLoad({
    platform: snapshot === undefined ? { text: prelude } : { body: snapshot },
    limits: limitsOf(settings),
    start: { enclosure, code: code.main },
  })
}

/** `3 errors and 1 warning in 2 plugin folders`, on stderr. */
function sayCounts(terminal: Terminal, problems: Problem[], folders: number): void {
  const errors = problems.filter(({ severity }) => severity === 'error').length
  const text = `${count(errors, 'error')} and ${count(problems.length - errors, 'warning')} in ${count(folders, 'plugin folder')}`
  terminal.say(paint(errors > 0 ? 'red' : 'green', text))
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
