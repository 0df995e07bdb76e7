import { join } from 'node:path'
import type { Command } from 'commander'
import { compileTypes } from '../../../manifest/settings/compile-types.ts'
import { hasCurrentTypes, writeTypes } from '../../../manifest/settings/write-types.ts'
import { type ReadFolder, readPluginFolders } from '../../plugin-folders.ts'
import { exitCodes } from '../../report-error.ts'
import { openTerminal } from '../../session.ts'
import { paint, type Terminal } from '../../terminal.ts'
import { printProblems } from './print-problems.ts'

type State = 'written' | 'current' | 'stale' | 'invalid'

/** Writes the types of plugin folders, or only says which are stale. */
export async function writeFolderTypes(
  named: string[],
  options: { check?: boolean },
  command: Command,
): Promise<void> {
  const terminal = openTerminal(command)
  const results: { path: string; state: State }[] = []
  for (const reading of await readPluginFolders(named)) {
    const path = join(reading.folder, 'generated', 'integration.ts')
    const state = await writeOne(terminal, reading, options.check === true)
    results.push({ path, state })
    if (!terminal.json && state !== 'invalid') terminal.print(path, ' ', paint(styles[state], state))
  }
  if (terminal.json) terminal.printJson(results)
  const has = (state: State) => results.some((result) => result.state === state)
  if (has('stale')) {
    terminal.say('Stale types differ from what the manifest declares. `make types` writes them.')
    process.exitCode = exitCodes.failed
  }
  if (has('invalid')) process.exitCode = exitCodes.invalid
}

/** Of one folder. What is wrong with its manifest is said on stderr. */
export async function writeOne(terminal: Terminal, reading: ReadFolder, onlyCheck: boolean): Promise<State> {
  const { folder, manifest, problems } = reading
  if (manifest === undefined) {
    // The list of files is the data here; why one is missing belongs beside it.
    printProblems({ ...terminal, print: terminal.say, color: false }, problems)
    return 'invalid'
  }
  const text = await compileTypes(manifest)
  if (onlyCheck) return (await hasCurrentTypes(folder, text)) ? 'current' : 'stale'
  return (await writeTypes(folder, text)).written ? 'written' : 'current'
}

const styles = { written: 'green', current: 'dim', stale: 'red' } as const
