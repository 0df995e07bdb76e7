import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Settings } from '../config/load-settings.ts'
import { withExamples } from './options.ts'
import { openTerminal } from './session.ts'
import { readSettings } from './surroundings.ts'

export function addMigrate(program: Command): void {
  const command = program
    .command('migrate')
    .description('bring the tables of the database up to date, as a start does')
    .action(async (_options: object, command: Command) => {
      const terminal = openTerminal(command)
      const { settings } = readSettings(command)
      const dialect = await migrate(settings)
      if (terminal.json) terminal.printJson({ dialect, state: 'current' })
      else terminal.print(`The tables are up to date (${dialect}).`)
    })
  withExamples(command, ['annex migrate', 'DATABASE_URL=postgres://… annex migrate'])
}

/** @throws AnnexError `conflict` while a server runs with this data folder: its tables are up to date */
async function migrate({ DATA_DIR, DATABASE_URL, PLUGINS_DIR }: Settings): Promise<string> {
  // Other commands start faster without a database.
  const { openDatabase } = await import('../db/open-database.ts')
  const { openDataFolder } = await import('../db/data-folder.ts')
  const dataDir = resolve(DATA_DIR)
  await using ends = new AsyncDisposableStack()
  ends.defer(await openDataFolder({ dataDir, databaseUrl: DATABASE_URL, beside: [PLUGINS_DIR] }))
  const database = await openDatabase(DATABASE_URL, dataDir)
  ends.defer(database.close)
  return database.dialect
}
