import { Worker } from 'node:worker_threads'
import type { Answer, Asked } from './serve-sqlite.ts'
import { toSqliteError } from './sqlite-errors.ts'

/** What a statement gives: its rows, or when it has none what it changed. */
export type Given = { rows?: unknown[]; lastID?: number | bigint; changes?: number | bigint }

/** A connection to a file, in a thread of its own. */
export type SqliteThread = {
  /** Statements are run in the order in which they are asked for. */
  run: (sql: string, bindings: readonly unknown[]) => Promise<Given>
  isOpen: () => boolean
  close: () => Promise<void>
}

/**
 * Opens a file. SQLite has a thread of its own: neither a long statement nor the disk holds up anything else that the
 * process does.
 *
 * @throws what SQLite says, with its code
 */
export async function openSqliteThread(filename: string): Promise<SqliteThread> {
  const worker = new Worker(new URL('./serve-sqlite.ts', import.meta.url), {
    workerData: filename,
    // Whatever this process was started with (a test runner, a profiler) is not for it.
    execArgv: [],
  })
  const waiting = new Map<number, PromiseWithResolvers<Given>>()
  /** Asked for in this turn of the event loop: a message to another thread costs as much as a statement. */
  let batch: Asked[] = []
  let lastId = 0
  let ended: Error | undefined
  worker.on('message', (answers: Answer[]) => {
    for (const { id, error, ...given } of answers) {
      const asked = waiting.get(id)
      waiting.delete(id)
      if (error === undefined) asked?.resolve(given)
      else asked?.reject(toSqliteError(error))
    }
    if (waiting.size === 0) worker.unref()
  })
  worker.on('error', end)
  worker.on('exit', () => end(new Error('The thread of the database has ended.')))
  const opened: SqliteThread = {
    run(sql, bindings) {
      if (ended !== undefined) return Promise.reject(ended)
      const answer = Promise.withResolvers<Given>()
      lastId += 1
      // While something is asked for, the process is not done.
      if (waiting.size === 0) worker.ref()
      waiting.set(lastId, answer)
      // After the promises of this turn: they may ask for more.
      if (batch.length === 0) process.nextTick(post)
      batch.push({ id: lastId, sql, bindings: bindings.map(toSqlite) })
      return answer.promise
    },
    isOpen: () => ended === undefined,
    async close() {
      if (ended !== undefined) return
      const left = new Promise((resolve) => worker.once('exit', resolve))
      worker.ref()
      worker.postMessage('close')
      await left
    },
  }
  // Opened by the first statement: what is wrong with the file is its error.
  await opened.run('select 1', [])
  return opened

  function post(): void {
    const asked = batch
    batch = []
    worker.postMessage(asked)
  }

  function end(error: Error): void {
    ended ??= error
    for (const { reject } of waiting.values()) reject(ended)
    waiting.clear()
  }
}

function toSqlite(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value)
  if (value instanceof Date) return value.valueOf()
  return value ?? null
}
