import type { Knex } from 'knex'
import * as tables from './001-tables.ts'

type Step = { up: (db: Knex) => Promise<void>; down: (db: Knex) => Promise<void> }

/** Numbered, and only appended to: a step of a release is never changed. */
const steps: readonly [string, Step][] = [['001-tables', tables]]

export const stepNames: readonly string[] = steps.map(([name]) => name)

export const migrations: Knex.MigrationSource<(typeof steps)[number]> = {
  getMigrations: async () => [...steps],
  getMigrationName: ([name]) => name,
  getMigration: async ([, step]) => step,
}
