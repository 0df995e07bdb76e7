// A thread of the host: reads what may take SQLite a while (see `ReadingClient`).
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { Answer, Asked, Refusal } from './reading-client.ts'

/** How long a statement waits for another process to let go of the file. Nobody is held up by it but who asks here. */
const busyMs = 5_000

const connection = new DatabaseSync(workerData, { readOnly: true, timeout: busyMs })

parentPort?.on('message', (asked: Asked) => parentPort?.postMessage(answer(asked)))
parentPort?.postMessage('open')

function answer({ sql, bindings }: Asked): Answer {
  try {
    return { rows: connection.prepare(sql).all(...bindings) }
  } catch (error) {
    // An error loses what it has of its own on the way to another thread.
    const { message, errcode } = error as Refusal
    return { refusal: { message, errcode } }
  }
}
