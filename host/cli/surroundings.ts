import type { Command } from 'commander'
import { type LoadedSettings, loadSettings, type Settings } from '../config/load-settings.ts'
import type { Trials } from '../sandbox/try-load.ts'

export type Output = Pick<NodeJS.WriteStream, 'write'> & { isTTY?: boolean; columns?: number }

/** What a command uses of its process: `process` is such a value. Paths are relative to the folder of the process. */
export type Surroundings = {
  argv: string[]
  env: NodeJS.ProcessEnv
  stdin: NodeJS.ReadableStream & { isTTY?: boolean }
  stdout: Output
  stderr: Output
  /** Set by a command that fails without an error. */
  exitCode?: number | string | null | undefined
  /** Where `check` loads scripts. Default: in a process behind the wall. */
  openTrials?: (settings: Settings) => Promise<Trials>
}

/** The options that every command takes, before or after its name. */
export type GlobalOptions = {
  url?: string
  token?: string
  json?: boolean
  color?: boolean
  /** Set by `createProgram`, so that each command finds it. No flag of the user. */
  surroundings: Surroundings
}

export const surroundingsOf = (command: Command): Surroundings =>
  command.optsWithGlobals<GlobalOptions>().surroundings

/** @throws AnnexError `settings_invalid` */
export const readSettings = (
  command: Command,
  flags: Readonly<Record<string, string | undefined>> = {},
): LoadedSettings => loadSettings({ flags, environment: surroundingsOf(command).env })
