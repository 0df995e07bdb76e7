import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '../../../host/db/open-database.ts'
import { firstOutput } from '../../support/first-output.ts'
import { createCutFolder } from './cut-folder.ts'

const program = fileURLToPath(new URL('publish-by-sql.ts', import.meta.url))

/**
 * The control: the same SQL in a process of its own that is cut off after some commits. With `NORMAL` SQLite does not
 * sync at a commit, so a harness that works finds losses; with `FULL` none.
 */
export async function cutBySql(
  synchronous: 'NORMAL' | 'FULL',
  ms: number,
): Promise<{ acknowledged: number; lost: number }> {
  const { dataDir, environment, cut, remove } = createCutFolder()
  try {
    const child = spawn(process.execPath, [program, dataDir, synchronous], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, ...environment },
    })
    const exited = once(child, 'exit')
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    await firstOutput(child)
    await sleep(ms)
    child.kill('SIGKILL')
    await exited
    cut({ mode: 'everything' })
    const acknowledged = said.split('\n').slice(0, -1)
    const { db, close } = await openDatabase('', dataDir)
    const found = new Set((await db('events').select('id')).map(({ id }) => id))
    await close()
    return { acknowledged: acknowledged.length, lost: acknowledged.filter((id) => !found.has(id)).length }
  } finally {
    remove()
  }
}
