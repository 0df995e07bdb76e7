import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { firstOutput } from './first-output.ts'

/** A process of its own: SQLite's locks do not hold within one process. */
const holder = `
const { DatabaseSync } = require('node:sqlite')
const [, file, sql] = process.argv
const db = new DatabaseSync(file, { timeout: 5000 })
db.exec(sql)
process.stdout.write('locked')
process.stdin.resume().once('end', () => { db.exec('COMMIT'); process.exit() })
`

/**
 * Another process begins a transaction.
 *
 * @param sql its first statements
 * @returns commits, and ends the process
 */
export async function lockDatabase(file: string, sql = 'BEGIN EXCLUSIVE'): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, ['-e', holder, file, sql], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  await firstOutput(child)
  return async () => {
    child.stdin.end()
    await exited
  }
}
