import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Why a test cannot limit how long files may become, or `false`. */
export const noPrlimit: string | false =
  spawnSync('prlimit', ['--version']).status === 0 ? false : 'needs prlimit, which comes with util-linux'

/** Why a test cannot write to a file that takes nothing, or `false`. */
export const noFullFile: string | false = existsSync('/dev/full') ? false : 'needs /dev/full'
