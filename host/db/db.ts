import type { Knex } from 'knex'

/** The database, or the transaction that a step belongs to. Every query takes one. */
export type Db = Knex

/** Where the data lies: `sqlite` is one file owned by one process; `postgres` is shared by any number. */
export type Dialect = 'sqlite' | 'postgres'
