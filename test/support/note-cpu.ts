import { appendFileSync } from 'node:fs'
import { readTreeCpu } from '../bench/measure/cpu-time.ts'
import { type CpuNote, notesOfCpu } from './cpu-report.ts'

/** All files of a group are loaded before the tests of the first one begin. */
let current = { title: '', fromSeconds: 0 }

/** A file of the group begins: what the process and its children have used since the last call is the earlier file's. */
export function noteCpu(title: string): void {
  const seconds = readTreeCpu(process.pid)
  if (seconds === undefined) return
  const note: CpuNote = { title: current.title, seconds: seconds - current.fromSeconds }
  appendFileSync(notesOfCpu(process.env.TEST_BUILDS_FOLDER ?? ''), `${JSON.stringify(note)}\n`)
  current = { title, fromSeconds: seconds }
}

process.on('exit', () => noteCpu(''))
