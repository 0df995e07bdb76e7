import { readdirSync, readFileSync } from 'node:fs'

/** What a process has used since it began. `endedMs`: its children that have ended, and theirs. */
export type Used = { cpuMs: number; endedMs: number; residentBytes: number }

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
      endedMs: (Number(fields[13]) + Number(fields[14])) * tickMs,
      residentBytes: Number(fields[21]) * pageBytes,
    }
  } catch {
    return undefined
  }
}

/**
 * CPU seconds of a process and all below it: those that run, and those that have ended and were waited for. A process whose
 * parent ended first belongs to the tree no more. @returns undefined when the process is gone, or the system has no /proc
 */
export function readTreeCpu(pid: number): number | undefined {
  if (readUsed(pid) === undefined) return undefined
  const { cpuMs, endedMs } = sumUsed([pid, ...descendantsOf(pid)])
  return (cpuMs + endedMs) / 1000
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
  const sum: Used = { cpuMs: 0, endedMs: 0, residentBytes: 0 }
  for (const used of pids.map(readUsed)) {
    sum.cpuMs += used?.cpuMs ?? 0
    sum.endedMs += used?.endedMs ?? 0
    sum.residentBytes += used?.residentBytes ?? 0
  }
  return sum
}
