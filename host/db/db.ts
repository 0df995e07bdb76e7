import type { Knex } from 'knex'

/** The database, or the transaction that a step belongs to. Every query takes one. */
export type Db = Knex

/** `sqlite`: one process owns the file. `postgres`: any number of hosts share the database. */
export type Dialect = 'sqlite' | 'postgres'

/** What a job does: runs a handler with an event or a task, or sends a delivery. */
export type JobKind = 'event' | 'task' | 'delivery'
