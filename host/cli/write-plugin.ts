import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { stringify } from 'yaml'
import { AnnexError } from '../errors.ts'
import { checkSchema } from '../manifest/checks/check-schema.ts'
import { compileTypes } from '../manifest/settings/settings-types.ts'
import { hasCurrentTypes, writeTypes } from '../manifest/settings/write-types.ts'
import { exitCodes } from './exit.ts'
import { UsageError } from './options.ts'
import { type ReadFolder, readPluginFolders } from './plugin-folders.ts'
import { findServer, openTerminal } from './session.ts'
import { type GlobalOptions, readSettings, surroundingsOf } from './surroundings.ts'
import { paint, printProblems, type Terminal } from './terminal.ts'

export type NewOptions = {
  title?: string
  description?: string
  organization?: string
  visibility?: string
  yes?: boolean
}

const script = `import { createIntegration } from '@annex/runtime'
import type { Integration } from './generated/integration.ts'

export default createIntegration<Integration>({
  fetch: async (request, { environment }) =>
    Response.json({ hello: environment.integration.name, method: request.method }),
})
`

/** Writes a plugin folder that passes `annex check`. */
export async function newPlugin(name: string, options: NewOptions, command: Command): Promise<void> {
  const terminal = openTerminal(command)
  const loaded = readSettings(command)
  const { settings } = loaded
  const manifest = await askManifest(terminal, name, options, settings.OPERATOR_ORGANIZATION)
  const [wrong] = checkSchema(manifest)
  if (wrong !== undefined) {
    throw new UsageError(`${wrong.message}${wrong.hint === undefined ? '' : ` (${wrong.hint})`}.`)
  }
  const folder = join(settings.PLUGINS_DIR, name)
  const files = {
    [join(folder, 'index.ts')]: script,
    // Last: an Annex that watches loads a folder once it has a manifest.
    [join(folder, 'service-manifest.yaml')]: stringify(manifest),
  }
  await makeFolder(settings.PLUGINS_DIR, folder)
  for (const [path, text] of Object.entries(files)) await writeFile(path, text)
  for (const reading of await readPluginFolders(loaded, [folder]))
    await writeTypesOf(terminal, reading, false)

  const written = [...Object.keys(files), join(folder, 'generated', 'integration.ts')]
  if (terminal.json) return terminal.printJson({ folder, files: written })
  for (const path of written) terminal.print(path)
  const { url } = findServer(command.optsWithGlobals<GlobalOptions>(), settings, surroundingsOf(command).env)
  terminal.say('\nNext:')
  terminal.say(`  npx annex check ${folder}`)
  terminal.say('  npx annex reload          make dev does this by itself')
  terminal.say(`  curl ${url}/x/${name}`)
}

async function askManifest(
  terminal: Terminal,
  name: string,
  options: NewOptions,
  owner: string,
): Promise<object> {
  const words = name.replaceAll('-', ' ')
  const title = `${words.charAt(0).toUpperCase()}${words.slice(1)}`
  const defaults = {
    title,
    description: 'Answers each request with its name.',
    organization: owner,
    visibility: 'private',
  }
  const answers: Record<string, string> = {}
  for (const field of ['title', 'description', 'organization', 'visibility'] as const) {
    const answer = options[field] ?? (options.yes ? undefined : await terminal.ask(field, defaults[field]))
    answers[field] = answer ?? defaults[field]
  }
  return { name, ...answers, scopes: [], script: './index.ts' }
}

/** @throws AnnexError `conflict` when the folder exists: no file is overwritten */
async function makeFolder(pluginsDir: string, folder: string): Promise<void> {
  await mkdir(pluginsDir, { recursive: true })
  try {
    await mkdir(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new AnnexError('conflict', `${folder} exists already. Choose another name, or remove it.`)
  }
}

type State = 'written' | 'current' | 'stale' | 'invalid'

/** Writes the settings types of plugin folders. With `--check`, only reports stale ones. */
export async function writeFolderTypes(
  named: string[],
  options: { check?: boolean },
  command: Command,
): Promise<void> {
  const terminal = openTerminal(command)
  const results: { path: string; state: State }[] = []
  for (const reading of await readPluginFolders(readSettings(command), named)) {
    const path = join(reading.folder, 'generated', 'integration.ts')
    const state = await writeTypesOf(terminal, reading, options.check === true)
    results.push({ path, state })
    if (!terminal.json && state !== 'invalid') terminal.print(path, ' ', paint(styles[state], state))
  }
  if (terminal.json) terminal.printJson(results)
  const has = (state: State) => results.some((result) => result.state === state)
  if (has('stale')) {
    terminal.say('Stale types differ from what the manifest declares. `make types` writes them.')
    terminal.setExitCode(exitCodes.failed)
  }
  if (has('invalid')) terminal.setExitCode(exitCodes.invalid)
}

/** Prints problems of an invalid manifest on stderr. */
async function writeTypesOf(terminal: Terminal, reading: ReadFolder, onlyCheck: boolean): Promise<State> {
  const { folder, manifest, problems } = reading
  if (manifest === undefined) {
    // stdout holds the list of files alone.
    printProblems({ ...terminal, print: terminal.say, color: false }, problems)
    return 'invalid'
  }
  const text = await compileTypes(manifest)
  if (onlyCheck) return (await hasCurrentTypes(folder, text)) ? 'current' : 'stale'
  return (await writeTypes(folder, text)).written ? 'written' : 'current'
}

const styles = { written: 'green', current: 'dim', stale: 'red' } as const
