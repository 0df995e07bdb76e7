import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { quoteValue } from '../manifest/message-text.ts'
import { readInside } from '../manifest/read-inside.ts'
import { hintForBuiltin, toBuiltin } from './builtin-hints.ts'

const maxTsconfigBytes = 256 * 1024

/** A refusal as esbuild takes it. */
export const refuse = (text: string, hint?: string) => ({ errors: [{ text, detail: hint }] })

export const refuseBuiltin = (path: string) =>
  refuse(
    `${quoteValue(path)} is a module of Node, which a sandbox does not have`,
    hintForBuiltin(toBuiltin(path) ?? path),
  )

/** Why an import finds nothing, and what its author can do. */
export async function refuseMissing(path: string, pluginRoot: string) {
  const shown = quoteValue(path)
  if (toBuiltin(path) !== undefined) return refuseBuiltin(path)
  if (path.startsWith('.')) return refuse(`there is no file ${shown}`)
  if (path.startsWith('#')) {
    return refuse(`"imports" in package.json leads to no file for ${shown}`, aliasHint)
  }
  if (await isAlias(path, pluginRoot)) {
    return refuse(`${shown} is no package, and "paths" of tsconfig.json are not read`, aliasHint)
  }
  // Only what can be pasted into a shell as it is.
  const name = /^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*(?=\/|$)/i.exec(path)?.[0] ?? ''
  if (name !== '' && existsSync(join(pluginRoot, 'node_modules', name))) {
    return refuse(
      `the package ${quoteValue(name)} is there, and has nothing to import as ${shown}`,
      'its package.json says under "exports" or "main" what it has',
    )
  }
  return refuse(
    `the package ${shown} is not installed in the plugin folder`,
    `install it there: npm install --prefix ${shellPath(pluginRoot)} ${name}`.trimEnd(),
  )
}

/** Without `--prefix` npm would look for a package.json further up, and install into Annex itself. */
function shellPath(folder: string): string {
  const path = relative(process.cwd(), folder)
  return /^\w[\w./-]*$/.test(path) ? path : '.'
}

const aliasHint =
  'write a path that begins with ./ or ../, or give package.json such an entry: "imports": { "#lib/*": "./lib/*" }'

/** A path such as `@/lib/a` is no name of a package; others tsconfig.json may have as a key of its `paths`. */
async function isAlias(path: string, pluginRoot: string): Promise<boolean> {
  if (/^(?:@|~)\//.test(path)) return true
  const reading = await readInside(pluginRoot, 'tsconfig.json', maxTsconfigBytes, undefined)
  if ('problem' in reading) return false
  const keys = /"((?:[^"\\\n]|\\.)+)"\s*:\s*\[/g
  return [...reading.bytes.toString('utf8').matchAll(keys)].some(([, key = '']) =>
    key.endsWith('*') ? path.startsWith(key.slice(0, -1)) && key !== '*' : path === key,
  )
}
