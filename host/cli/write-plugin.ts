import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { stringify } from 'yaml'
import { loadSettings } from '../config/load-settings.ts'
import { AnnexError } from '../errors/annex-error.ts'
import { checkSchema } from '../manifest/checks/check-schema.ts'
import { findServer } from './api/find-server.ts'
import { writeOne } from './commands/plugins/write-folder-types.ts'
import { readPluginFolders } from './plugin-folders.ts'
import { type GlobalOptions, openTerminal } from './session.ts'
import { ask } from './terminal/ask.ts'
import { UsageError } from './usage-error.ts'

export type NewOptions = {
  title?: string
  description?: string
  organization?: string
  visibility?: string
  yes?: boolean
}

const script = `import { createIntegration } from '@annex/runtime'
import type { Integration } from './commands/plugins/generated/integration.ts'

export default createIntegration<Integration>({
  fetch: async (request, { environment }) =>
    Response.json({ hello: environment.integration.name, method: request.method }),
})
`

/** Writes a plugin folder that `annex check` finds nothing wrong with. */
export async function newPlugin(name: string, options: NewOptions, command: Command): Promise<void> {
  const terminal = openTerminal(command)
  const { settings } = loadSettings()
  const manifest = await askManifest(name, options, settings.OPERATOR_ORGANIZATION)
  const [wrong] = checkSchema(manifest)
  if (wrong !== undefined) {
    throw new UsageError(`${wrong.message}${wrong.hint === undefined ? '' : ` (${wrong.hint})`}.`)
  }
  const folder = join(settings.PLUGINS_DIR, name)
  const files = {
    [join(folder, 'index.ts')]: script,
    // Last: without a manifest, an Annex that watches has nothing to load yet.
    [join(folder, 'service-manifest.yaml')]: stringify(manifest),
  }
  await makeFolder(settings.PLUGINS_DIR, folder)
  for (const [path, text] of Object.entries(files)) await writeFile(path, text)
  for (const reading of await readPluginFolders([folder])) await writeOne(terminal, reading, false)

  const written = [...Object.keys(files), join(folder, 'generated', 'integration.ts')]
  if (terminal.json) return terminal.printJson({ folder, files: written })
  for (const path of written) terminal.print(path)
  const { url } = findServer(command.optsWithGlobals<GlobalOptions>(), settings, process.env)
  terminal.say('\nNext:')
  terminal.say(`  npx annex check ${folder}`)
  terminal.say('  npx annex reload          not needed beside make dev')
  terminal.say(`  curl ${url}/x/${name}`)
}

async function askManifest(name: string, options: NewOptions, owner: string): Promise<object> {
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
    const answer = options[field] ?? (options.yes ? undefined : await ask(field, defaults[field]))
    answers[field] = answer ?? defaults[field]
  }
  return { name, ...answers, scopes: [], script: './index.ts' }
}

/** @throws AnnexError `conflict` when it is there already: nothing that lies there is overwritten */
async function makeFolder(pluginsDir: string, folder: string): Promise<void> {
  await mkdir(pluginsDir, { recursive: true })
  try {
    await mkdir(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new AnnexError('conflict', `${folder} exists already. Choose another name, or remove it.`)
  }
}
