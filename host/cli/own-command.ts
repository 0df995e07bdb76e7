import { existsSync } from 'node:fs'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(fileURLToPath(new URL('../..', import.meta.url)))

export type Caller = { argv: string[]; env: NodeJS.ProcessEnv; cwd: string }

/** How a shell in the current folder starts this program again. `npx annex`, unless npx would not find it from there. */
export function findOwnCommand({ argv, env, cwd }: Caller): string {
  if (env.npm_command === 'exec' || projectOf(cwd) === root) return 'npx annex'
  const [, script = join(root, 'bin', 'annex.js')] = argv
  const isOnPath = (env.PATH ?? '').split(delimiter).includes(dirname(script))
  if (basename(script) === 'annex' && isOnPath) return 'annex'
  const own = script === join(root, 'host', 'cli', 'main.ts') ? join(root, 'bin', 'annex.js') : script
  return /^[\w./+@-]+$/.test(own) ? own : `'${own.replaceAll("'", `'\\''`)}'`
}

/** The folder whose commands npx runs. Where it has no `annex`, npx would download a stranger's package of that name. */
function projectOf(cwd: string): string | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (['package.json', 'node_modules'].some((name) => existsSync(join(folder, name)))) return folder
    if (dirname(folder) === folder) return undefined
  }
}

/** Texts name commands as `npx annex …`, also those of the API. This makes them commands for the shell of the reader. */
export const toPasteable = (text: string, ownCommand: string): string =>
  text.replaceAll(/(?<![\w/.-])npx annex (?=[a-z])/g, () => `${ownCommand} `)
