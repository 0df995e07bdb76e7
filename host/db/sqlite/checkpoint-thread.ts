// A thread of the host: copies commits to the database's own file when it is told to (see `createCheckpoints`).
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

const connection = new DatabaseSync(workerData, { timeout: 0 })
connection.exec('PRAGMA synchronous = NORMAL')
// PASSIVE waits for nobody, and nobody for it.
const checkpoint = connection.prepare('PRAGMA wal_checkpoint(PASSIVE)')

parentPort?.on('message', () => parentPort?.postMessage({ ...checkpoint.get() }))
