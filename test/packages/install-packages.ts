import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const installed = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** What a bundle never has: types, maps, sources of what is compiled. They are most of a package's files. */
const unneeded =
  /\.d\.[cm]?ts$|\.map$|^\/(?:src|test|tests)\/|\/locale\/(?!de\b|en-US\b|_lib\b)[^/]+\/|\/bin\//

/** Puts packages into the `node_modules` of a plugin folder, with those that they depend on, as npm would. */
export function installPackages(pluginFolder: string, ...names: string[]): void {
  for (const name of names) {
    const from = join(installed, name)
    cpSync(from, join(pluginFolder, 'node_modules', name), {
      recursive: true,
      filter: (path) => !unneeded.test(path.slice(from.length)),
    })
    const { dependencies = {} } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
    installPackages(pluginFolder, ...Object.keys(dependencies))
  }
}
