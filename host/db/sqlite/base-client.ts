import { createRequire } from 'node:module'
import type { Knex } from 'knex'
import type { EachBindings } from '../each-row.ts'
import { writeOutLimit } from './limits.ts'

/** What Knex hands its client of a query, and takes back. */
export type Query = {
  sql: string
  bindings?: readonly unknown[]
  /** In place of its bindings, those of each time that it is run. */
  queryContext?: Partial<EachBindings>
  response?: unknown
  context?: { lastID: unknown; changes: unknown }
}

interface KnexClient<Settings> {
  connectionSettings: Settings
  acquireRawConnection(): Promise<unknown>
  destroyRawConnection(connection: unknown): Promise<void>
  validateConnection(connection: unknown): boolean
  transaction(container: unknown, config?: object, outer?: unknown): Promise<unknown>
  queryCompiler(builder: unknown, bindings: unknown): object
}

const KnexClient = createRequire(import.meta.url)('knex/lib/dialects/better-sqlite3') as new <Settings>(
  config: Knex.Config,
) => KnexClient<Settings>

/** Knex's client for a SQLite whose statements go elsewhere than to the package that Knex knows. */
export class BaseClient<Settings> extends KnexClient<Settings> {
  override queryCompiler(builder: unknown, bindings: unknown): object {
    return writeOutLimit(super.queryCompiler(builder, bindings))
  }
}
