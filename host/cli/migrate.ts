import { resolve } from 'node:path'
import type { Command } from 'commander'
import { loadSettings } from '../config/load-settings.ts'
import { openTerminal } from './session.ts'
import { withExamples } from './with-examples.ts'

/** `annex migrate`: brings the tables up to date without starting. A start does it too. */
export function addMigrate(program: Command): void {
  const command = program
    .command('migrate')
    .description('bring the tables of the database up to date; a start does so by itself')
    .action(async (_options: object, command: Command) => {
      const terminal = openTerminal(command)
      const { settings } = loadSettings()
      const dialect = await migrate(resolve(settings.DATA_DIR), settings.DATABASE_URL)
      if (terminal.json) terminal.printJson({ dialect, state: 'current' })
      else terminal.print(`The tables are up to date (${dialect}).`)
    })
  withExamples(command, ['annex migrate', 'DATABASE_URL=postgres://… annex migrate'])
}

/** @throws AnnexError `conflict` while a server runs with that data folder, whose tables are up to date then */
async function migrate(dataDir: string, databaseUrl: string): Promise<string> {
  // Loaded only here: the other commands start faster without a database.
  const { openDatabase } = await import('../db/open-database.ts')
  const { ownDataFolder } = await import('../db/own-data-folder.ts')
  await using ends = new AsyncDisposableStack()
  ends.defer(await ownDataFolder(dataDir))
  const database = await openDatabase(databaseUrl, dataDir)
  ends.defer(database.close)
  return database.dialect
}
