import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs the compiler on a folder with a `tsconfig.json`. @returns what it has to say */
export function compile(project: string): Promise<string> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [tsc, '-p', project, '--pretty', 'false'],
      { cwd: project },
      (_error, stdout) => resolve(stdout),
    )
  })
}
