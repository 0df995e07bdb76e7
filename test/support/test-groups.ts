import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { DatabaseName, TestHeader } from './test-header.ts'

export type TestFile = { file: string; header: TestHeader }

/** `url`: empty for SQLite. */
export type Server = { name: string; url: string }

/** Files that share a process, on one database. */
export type TestGroup = { files: string[]; database: Server }

const addressOf = (file: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, file)).href)

/** Deals the files that run on the database into groups of `size`. Neighbours in a folder are often alike, so they are parted. */
export function groupFiles(
  files: readonly TestFile[],
  on: DatabaseName,
  database: Server,
  size: number,
): TestGroup[] {
  const chosen = files.filter(({ header }) => header.databases.includes(on)).map(({ file }) => file)
  const count = Math.ceil(chosen.length / size)
  return Array.from({ length: count }, (_, group) => ({
    files: chosen.filter((_, at) => at % count === group),
    database,
  }))
}

/**
 * Writes a file that runs the group: each of its files is a suite with its path as the name, so that its hooks hold for its own
 * tests alone.
 *
 * @param at the runner of Node sorts files by path: the group begins in this turn
 */
export function writeGroup(folder: string, { files, database }: TestGroup, at: number): string {
  const suites = files.map((file) => {
    const title = JSON.stringify(database.url === '' ? file : `${file} on ${database.name}`)
    const address = JSON.stringify(pathToFileURL(resolve(file)).href)
    return `describe(${title}, async () => { before(() => noteCpu(${title})); await import(${address}) })`
  })
  const group = join(folder, `group-${String(at).padStart(3, '0')}.test.mjs`)
  const lines = [
    "import { after, before, describe } from 'node:test'",
    `import { drainReports } from ${addressOf('drain-reports.ts')}`,
    `import { noteCpu } from ${addressOf('note-cpu.ts')}`,
    `process.env.DATABASE_URL_TEST = ${JSON.stringify(database.url)}`,
    ...suites,
    'after(drainReports)',
    '',
  ]
  writeFileSync(group, lines.join('\n'))
  return group
}
