import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Preloading works so on Linux alone, and on 64-bit machines, where there is one size of offsets. */
const isPossible =
  process.platform === 'linux' && spawnSync('cc', ['--version'], { stdio: 'ignore' }).status === 0

/** Says why libraries cannot be compiled here, for a test that is skipped then. */
export const noCompiler: string | false = isPossible
  ? false
  : 'needs Linux and a C compiler (cc): install gcc or clang'

/** Compiles a library to preload. @returns its path in `folder` */
export function compileLibrary(source: URL, folder: string): string {
  const library = join(folder, 'preloaded.so')
  execFileSync('cc', ['-shared', '-fPIC', '-O2', '-Wall', '-Werror', '-o', library, source.pathname, '-ldl'])
  return library
}
