import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const unlit = 'the fuse is not lit'
const lit = 'the fuse is lit'

/**
 * Code that runs at a script's top level once the fuse is lit. A version is loaded once before it is deployed: until
 * then an attack behaves, as a real one would by the clock.
 */
export const behindFuse = (code: string): string =>
  `const fuse: string = '${unlit}'\nif (fuse === '${lit}') { ${code} }`

/** Lights the fuses of all stored versions. The next Annex on this data folder runs them: it is SQLite, and not open now. */
export function lightFuses(dataDir: string): void {
  using database = new DatabaseSync(join(dataDir, 'annex.sqlite'))
  database.prepare('update versions set code = replace(code, ?, ?)').run(`fuse="${unlit}"`, `fuse="${lit}"`)
}
