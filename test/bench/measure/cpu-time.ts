import { readdirSync, readFileSync } from 'node:fs'

/** What a process has used since it began. */
export type Used = { cpuMs: number; residentBytes: number }

/** Linux counts in hundredths of a second, on every machine that Node runs on. */
const tickMs = 10
const pageBytes = 4096

/** @returns undefined when the process is gone, or the system has no /proc */
export function readUsed(pid: number): Used | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the command's name, which may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return {
      cpuMs: (Number(fields[11]) + Number(fields[12])) * tickMs,
      residentBytes: Number(fields[21]) * pageBytes,
    }
  } catch {
    return undefined
  }
}

/** The processes that a process has started, and theirs. */
export function descendantsOf(pid: number): number[] {
  const children = childrenOf(pid)
  return [...children, ...children.flatMap(descendantsOf)]
}

function childrenOf(pid: number): number[] {
  try {
    // A child belongs to the thread that has started it.
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    )
  } catch {
    return []
  }
}

/** CPU time and memory of some processes together. */
export function sumUsed(pids: number[]): Used {
  const used = pids.map(readUsed).filter((found) => found !== undefined)
  return {
    cpuMs: used.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    residentBytes: used.reduce((sum, { residentBytes }) => sum + residentBytes, 0),
  }
}
