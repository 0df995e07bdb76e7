import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `title`: of a file on a database, or empty for loading the files of a group. */
export type CpuNote = { title: string; seconds: number }

/** The file of a run's notes, a line of JSON each. */
export const notesOfCpu = (folder: string): string => join(folder, 'cpu.jsonl')

export type CpuReport = { lines: string[]; overBudget: string[] }

/** The ten most expensive files of a run, and those above their budgets. Both are empty where the system tells no CPU times. */
export function reportCpu(folder: string, budgetOf: (file: string) => number): CpuReport {
  const notes = readNotes(notesOfCpu(folder))
  if (notes.length === 0) return { lines: [], overBudget: [] }
  const loads = notes.filter(({ title }) => title === '')
  const files = notes
    .filter(({ title }) => title !== '')
    .toSorted((one, other) => other.seconds - one.seconds)
  const lines = [
    'CPU seconds of the most expensive files, with the processes that they start:',
    ...files.slice(0, 10).map(({ title, seconds }) => `${seconds.toFixed(1).padStart(7)}  ${title}`),
    `${sum(files).toFixed(0).padStart(5)}    all ${files.length} files; ${sum(loads).toFixed(0)} more to load them in ${loads.length} processes`,
  ]
  const overBudget = files
    .map(({ title, seconds }) => ({ title, seconds, file: title.replace(/ on .*/, '') }))
    .filter(({ seconds, file }) => seconds > budgetOf(file))
    .map(
      ({ title, seconds, file }) =>
        `${title} used ${seconds.toFixed(1)} s of CPU and its budget is ${budgetOf(file)} s: make it cheaper, or say why it needs more at its top: // cpu: ${Math.ceil(seconds * 1.5)} s (reason)`,
    )
  return { lines, overBudget }
}

function readNotes(file: string): CpuNote[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line))
}

const sum = (notes: readonly CpuNote[]): number => notes.reduce((total, { seconds }) => total + seconds, 0)
