import type { SQLInputValue } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { nextMessage } from '../../next-message.ts'
import { BaseClient, type Query } from './base-client.ts'
import { toSqlite } from './node-sqlite-client.ts'
import { nameSqliteError } from './sqlite-errors.ts'

/** What the thread is asked. */
export type Asked = { sql: string; bindings: SQLInputValue[] }
export type Answer = { rows: unknown[] } | { refusal: Refusal }
/** What an error of SQLite says. */
export type Refusal = { message: string; errcode: number }

/**
 * Knex's client for reading what may take SQLite a while: each of its connections is a thread, that opens the file to read only.
 * In the host's own thread, all visitors and deliveries would wait meanwhile.
 */
export class ReadingClient extends BaseClient<{ filename: string }> {
  _driver(): typeof Worker {
    return Worker
  }

  override async acquireRawConnection(): Promise<Worker> {
    const { filename } = this.connectionSettings
    const thread = new Worker(new URL('reading-thread.ts', import.meta.url), { workerData: filename })
    thread.on('error', () => {})
    thread.once('exit', () => gone.add(thread))
    try {
      await nextMessage(thread, ended)
    } catch (error) {
      throw nameSqliteError(error)
    }
    return thread
  }

  override async destroyRawConnection(thread: Worker): Promise<void> {
    await thread.terminate()
  }

  override validateConnection(thread: Worker): boolean {
    return !gone.has(thread)
  }

  async _query(thread: Worker, query: Query): Promise<Query> {
    const asked: Asked = { sql: query.sql, bindings: (query.bindings ?? []).map(toSqlite) }
    thread.postMessage(asked)
    const answer = (await nextMessage(thread, ended)) as Answer
    if ('refusal' in answer) throw toError(answer.refusal)
    query.response = answer.rows
    return query
  }
}

const gone = new WeakSet<Worker>()
const ended = 'The thread that reads the database has ended.'

const toError = ({ message, errcode }: Refusal): unknown =>
  nameSqliteError(Object.assign(new Error(message), { errcode }))
