import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { areas } from './areas.ts'
import { whyFileIsExcluded } from './excluded.ts'

/** One file of the web-platform-tests in one variant, to be run in an isolate of its own. */
export type Case = {
  area: string
  /** Relative to the checkout, with `/`. */
  file: string
  /** The query part that selects a part of the file: empty, or with its `?`. */
  variant: string
  scripts: string[]
  title: string
  timeoutMs: number
  excluded?: string
}

const normalTimeoutMs = 10_000
const longTimeoutMs = 60_000
/** Where a test may say that it runs: a file that names none of these is for pages or shadow realms only. */
const suitable = /^(worker|dedicatedworker|serviceworker|sharedworker|jsshell)/

/** The cases of a checkout whose file or variant starts with one of `filters`; all where there is no filter. */
export const listCases = async (wptFolder: string, filters: string[]): Promise<Case[]> => {
  const cases: Case[] = []
  for (const [area, paths] of Object.entries(areas)) {
    for (const entry of paths) {
      for (const file of await testFiles(wptFolder, entry))
        cases.push(...(await readCases(wptFolder, area, file)))
    }
  }
  if (filters.length === 0) return cases
  return cases.filter(({ area, file, variant }) =>
    filters.some((filter) =>
      Object.hasOwn(areas, filter) ? area === filter : `${file}${variant}`.startsWith(filter),
    ),
  )
}

const testFiles = async (wptFolder: string, entry: string): Promise<string[]> => {
  const whole = path.join(wptFolder, entry)
  if ((await stat(whole)).isFile()) return [entry]
  const names = await readdir(whole, { recursive: true })
  return names
    .map((name) => path.posix.join(entry, name.split(path.sep).join('/')))
    .filter((file) => /\.(any|window)\.js$/.test(file))
    .sort()
}

const readCases = async (wptFolder: string, area: string, file: string): Promise<Case[]> => {
  const text = await readFile(path.join(wptFolder, file), 'utf8')
  const meta = (key: string): string[] =>
    [...text.matchAll(new RegExp(`^// META: ${key}=(.*)$`, 'gm'))].map((match) => match[1]?.trim() ?? '')
  const globals = (meta('global')[0] ?? 'window,dedicatedworker').split(',')
  const excluded =
    whyFileIsExcluded(file) ??
    (file.endsWith('.window.js') || globals.some((name) => suitable.test(name))
      ? undefined
      : `is for ${globals.join(', ')} only`)
  const variants = meta('variant')
  return (variants.length === 0 ? [''] : variants).map((variant) => ({
    area,
    file,
    variant,
    scripts: meta('script'),
    title: meta('title')[0] ?? path.posix.basename(file).replace(/\..*$/, ''),
    timeoutMs: meta('timeout')[0] === 'long' ? longTimeoutMs : normalTimeoutMs,
    ...(excluded !== undefined && { excluded }),
  }))
}
