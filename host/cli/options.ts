import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseDate } from '../../schemas/parse-date.ts'

/** Wrong usage of the command line: exit code 2. The message says what is expected. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * Puts examples first in a command's help: most people read no further. Each begins with `annex` where a shell reads it;
 * `createProgram` prints the command of the reader instead.
 */
export function withExamples(command: Command, examples: string[]): Command {
  const lines = examples.map((line) => `  ${line.replaceAll(/(?<=^|[ (])annex (?=[a-z])/g, 'npx annex ')}`)
  return command.addHelpText('before', `Examples:\n${lines.join('\n')}\n`)
}

/** Collects the values of an option that may be repeated. */
export const collect = (value: string, before: string[] = []): string[] => [...before, value]

/** Adds the options of `LevelOptions`. `describe`: the help of `--site` and of `--space`. */
export function addLevelOptions(command: Command, describe: (kind: 'site' | 'space') => string): Command {
  return command
    .option('--org <name>', 'organization: id or subdomain')
    .addOption(new Option('--site <name>', `${describe('site')}: id or slug`).conflicts('space'))
    .option('--space <name>', `${describe('space')}: id or slug`)
}

const maxItems = 1000

/** `--limit <number>`: the most items of a list. */
export const createLimitOption = (): Option =>
  new Option('--limit <number>', `list at most this many, up to ${maxItems}`).argParser((text) => {
    const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
    if (limit >= 1 && limit <= maxItems) return limit
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${maxItems}.`)
  })

/** `--page <text>`: another page of a list. */
export const createPageOption = (): Option =>
  new Option('--page <text>', 'the page after another: `next.page` of its --json')

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** How long `90s`, `30m`, `2h` or `7d` is. */
export function durationMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * (unitMs[unit] ?? 0)
}

/**
 * A time on the command line: how long ago (`90s`, `30m`, `2h`, `7d`), or a date with or without a time.
 *
 * @returns the time in ISO 8601
 */
export function parseTime(text: string): string {
  const ago = durationMs(text)
  const ms = ago === undefined ? parseDate(text) : Date.now() - ago
  if (!Number.isNaN(ms)) return new Date(ms).toISOString()
  throw new InvalidArgumentError('It must be a time (2026-01-31T12:00Z), or how long ago (30m, 2h, 7d).')
}
