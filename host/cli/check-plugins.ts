import type { Command } from 'commander'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { buildProcessCode, bundlePrelude } from '../bundle/build-runtime.ts'
import { bundleScript } from '../bundle/bundle-script.ts'
import type { Settings } from '../config/load-settings.ts'
import { AnnexError } from '../errors.ts'
import { describePermission, findUnagreed, type Permission, permissionsOf } from '../manifest/permissions.ts'
import { hasErrors, type Problem } from '../manifest/problem.ts'
import { makeSnapshot } from '../sandbox/process/snapshot.ts'
import { startProcess } from '../sandbox/process/start-process.ts'
import { createTryLoad, type Trials } from '../sandbox/try-load.ts'
import { reachWall } from '../sandbox/wall/reach-wall.ts'
import { limitsOf } from '../start/start-sandboxes.ts'
import { sdkFolder } from '../versions/load-plugins.ts'
import { type TryLoad, tryVersion } from '../versions/try-version.ts'
import { readAll } from './client.ts'
import { exitCodes } from './exit.ts'
import { type ReadFolder, readPluginFolders } from './plugin-folders.ts'
import { openSession, openTerminal } from './session.ts'
import { readSettings, surroundingsOf } from './surroundings.ts'
import { paint, printProblems, type Terminal } from './terminal.ts'

/** Checks, bundles and loads plugin folders as a server does, and prints all problems. */
export async function checkFolders(
  named: string[],
  { against }: { against?: string },
  command: Command,
): Promise<void> {
  const terminal = openTerminal(command)
  const readings = await readPluginFolders(readSettings(command), named)
  const checked: Checked[] = []
  let trials: Promise<Trials> | undefined
  await using ends = new AsyncDisposableStack()
  ends.defer(async () => (await trials)?.close())
  const tryLoad: TryLoad = async (version) => {
    trials ??= (surroundingsOf(command).openTrials ?? openTrials)(readSettings(command).settings)
    return (await trials).tryLoad(version)
  }
  for (const reading of readings) {
    const problems = [...reading.problems, ...(await scriptProblems(reading, tryLoad))]
    const manifest = reading.manifest
    const asksFor =
      against === undefined || manifest === undefined ? undefined : await findNew(manifest, against, command)
    const name = manifest?.name ?? null
    checked.push({ folder: reading.folder, name, problems, ...(asksFor && { asksFor }) })
  }
  const problems = checked.flatMap((folder) => folder.problems)
  if (terminal.json) terminal.printJson(checked)
  else {
    printProblems(terminal, problems)
    for (const { name, asksFor } of checked) if (asksFor) printNew(terminal, `${name}`, asksFor)
    sayCounts(terminal, problems, checked.length)
  }
  if (hasErrors(problems)) terminal.setExitCode(exitCodes.invalid)
}

type Checked = { folder: string; name: string | null; problems: Problem[]; asksFor?: Permission[] }

/** The permissions that organizations with a stored version have not agreed to. */
async function findNew(manifest: Manifest, against: string, command: Command): Promise<Permission[]> {
  const { name } = manifest
  const { api } = openSession(command)
  const params = { integration: name }
  const { items } = await readAll(api.all('GET /v1/integrations/{integration}/versions', { params }))
  const found = items.find(({ number }) => String(number) === against)
  if (found !== undefined) return findUnagreed(found.permissions, permissionsOf(manifest))
  throw new AnnexError(
    'not_found',
    `${name} has no version ${against}. \`npx annex versions ${name}\` lists all.`,
  )
}

function printNew(terminal: Terminal, name: string, asksFor: Permission[]): void {
  if (asksFor.length === 0) return terminal.print(`${name}: no organization has to agree`)
  terminal.print(`${name}: admins have to agree, and organizations that have not go on with their version`)
  for (const permission of asksFor) terminal.print(paint('green', '+ '), describePermission(permission))
}

/** Checks the script too when its manifest has errors, as long as the manifest names the script. */
async function scriptProblems(reading: ReadFolder, tryLoad: TryLoad): Promise<Problem[]> {
  const { folder, script, ownFiles } = reading
  if (script === undefined) return []
  const { bundle, problems } = await bundleScript(folder, { script }, { sdkFolder, ownFiles })
  if (bundle === undefined) return problems
  const declared = reading.manifest && { scopes: reading.manifest.scopes, frames: reading.frames }
  const publisher = reading.manifest?.organization ?? folder
  const tried = { folder, publisher, integration: 'script', script, bundle, ownFiles, declared }
  return [...problems, ...(await tryVersion(tryLoad, tried)).problems]
}

/**
 * Loads scripts behind the same wall as a server does. It writes no file: DATA_DIR may belong to another user.
 *
 * @throws AnnexError `sandbox_unavailable`
 */
async function openTrials(settings: Settings): Promise<Trials> {
  const [code, prelude] = await Promise.all([buildProcessCode(), bundlePrelude()])
  const { enclosure } = await reachWall(code.probe, settings.SANDBOX_REQUIRE)
  const snapshot = await makeSnapshot({ enclosure, code: code.snapshotMaker }, prelude)
  return createTryLoad({
    platform: snapshot === undefined ? { text: prelude } : { body: snapshot },
    limits: limitsOf(settings),
    start: (onErrorOutput) => startProcess(onErrorOutput, { enclosure, code: code.main }),
  })
}

/** `3 errors and 1 warning in 2 plugin folders`, on stderr. */
function sayCounts(terminal: Terminal, problems: Problem[], folders: number): void {
  const errors = problems.filter(({ severity }) => severity === 'error').length
  const text = `${count(errors, 'error')} and ${count(problems.length - errors, 'warning')} in ${count(folders, 'plugin folder')}`
  terminal.say(paint(errors > 0 ? 'red' : 'green', text))
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
