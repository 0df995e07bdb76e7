import { existsSync, realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import type { Settings } from '../config/load-settings.ts'
import type { CopiedTable, Progress } from '../db/copy-database.ts'
import type { Database } from '../db/open-database.ts'
import { AnnexError, isAnnexError } from '../errors.ts'
import { UsageError, withExamples } from './options.ts'
import { openTerminal } from './session.ts'
import { readSettings } from './surroundings.ts'
import { printTable, type Terminal } from './terminal.ts'

/** `annex copy-database`: from SQLite to PostgreSQL and back. */
export function addCopyDatabase(program: Command): void {
  const command = program
    .command('copy-database')
    .description('copy all of a database into an empty one, while no Annex runs on either')
    .argument('<from>', 'sqlite:PATH or postgres://…')
    .argument('<to>', 'the same; its tables are made where it has none')
    .action(async (from: string, to: string, _options: object, command: Command) => {
      const terminal = openTerminal(command)
      const tables = await copy(terminal, { from, to }, readSettings(command).settings)
      const rows = tables.reduce((sum, table) => sum + table.rows, 0)
      if (terminal.json) return terminal.printJson({ rows, tables })
      printTable(
        terminal,
        ['table', 'rows'],
        tables.map((table) => [table.table, String(table.rows)]),
      )
      terminal.say(
        `${rows} rows copied. The secret key is in no database: start Annex on TO with the same SECRET_KEY, or with the ` +
          'secret.key of the old DATA_DIR in the new one.',
      )
    })
  withExamples(command, [
    'annex copy-database sqlite:data/annex.sqlite postgres://annex@db.example/annex',
    'PGPASSWORD=… annex copy-database postgres://annex@db.example/annex sqlite:data/annex.sqlite --json',
  ])
}

type Addresses = { from: string; to: string }

/** @throws AnnexError, UsageError. The destination has all rows then, or none. */
async function copy(terminal: Terminal, { from, to }: Addresses, settings: Settings): Promise<CopiedTable[]> {
  const files = { from: fileOf('FROM', from), to: fileOf('TO', to) }
  if (from === to || (files.from !== undefined && realPath(files.from) === realPath(files.to ?? ''))) {
    throw new UsageError('FROM and TO are the same database.')
  }
  if (files.from !== undefined && !existsSync(files.from)) {
    throw new AnnexError('not_found', `FROM: There is no file ${files.from}.`)
  }
  // Loaded only here: the other commands start faster without a database.
  const { copyDatabase, prepareSource, prepareDestination } = await import('../db/copy-database.ts')
  const { explainStorageError } = await import('../db/errors.ts')
  const { openDatabase } = await import('../db/open-database.ts')
  await using ends = new AsyncDisposableStack()
  for (const folder of foldersOf({ from, to }, Object.values(files), settings)) ends.defer(await lock(folder))
  const open = async (role: string, url: string, prepare: typeof prepareDestination): Promise<Database> => {
    const database = await openDatabase(url, '', prepare).catch((error) => {
      throw toRoleError(role, error)
    })
    ends.defer(database.close)
    return database
  }
  const source = await open('FROM', from, prepareSource)
  const destination = await open('TO', to, prepareDestination)
  return await copyDatabase(source.db, destination.db, createProgress(terminal)).catch((error) => {
    throw explainStorageError(error) ?? error
  })
}

/**
 * @returns the path of SQLite's file, `undefined` for PostgreSQL
 * @throws UsageError, which does not repeat the address: it may hold a password
 */
function fileOf(role: string, address: string): string | undefined {
  if (/^postgres(ql)?:\/\//.test(address) && URL.canParse(address)) return undefined
  const [, path] = /^sqlite:(.+)$/.exec(address) ?? []
  if (path !== undefined && path !== ':memory:') return resolve(path)
  throw new UsageError(`${role} is neither sqlite:PATH nor postgres://…`)
}

const realPath = (path: string): string => (existsSync(path) ? realpathSync(path) : path)

/** The data folders whose Annex could use one of the databases: those of the files, and ours where it is set to one. */
function foldersOf(
  { from, to }: Addresses,
  files: readonly (string | undefined)[],
  settings: Settings,
): Set<string> {
  const folders = files.flatMap((path) => (path === undefined ? [] : [dirname(path)]))
  if ([from, to].includes(settings.DATABASE_URL)) folders.push(resolve(settings.DATA_DIR))
  return new Set(folders.map(realPath))
}

async function lock(folder: string): Promise<() => Promise<void>> {
  const { ownDataFolder } = await import('../db/data-folder.ts')
  return ownDataFolder(folder).catch((error) => {
    if (!isAnnexError(error) || error.code !== 'conflict') throw error
    throw new AnnexError(
      'conflict',
      `An Annex is using the data folder ${folder}. Stop it, and copy again.`,
      {
        cause: error,
      },
    )
  })
}

/** The errors of a database name a setting, and here an argument is at fault. */
function toRoleError(role: string, error: unknown): unknown {
  if (!isAnnexError(error)) return error
  const code = error.code === 'settings_invalid' ? 'unavailable' : error.code
  return new AnnexError(code, `${role}: ${error.message.replace(/^DATABASE_URL: /, '')}`, { cause: error })
}

const sayEveryMs = 1_000

function createProgress(terminal: Terminal): (progress: Progress) => void {
  let saidAt = performance.now()
  return ({ table, rows, copied }) => {
    if (copied < rows && performance.now() - saidAt < sayEveryMs) return
    saidAt = performance.now()
    terminal.say(`${table}: ${copied} of ${rows}`)
  }
}
