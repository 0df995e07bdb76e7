import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** Of the main thread of a process. `isWaiting`: it could run, and another task has the processor. */
export type ProcessorUse = { cpuMs: number; isWaiting: boolean }

/** Linux counts CPU time in hundredths of a second on every machine that Node runs on. */
const tickMs = 10
/** 4 KB on x64; on ARM the kernel may have been built for 16 or 64 KB, and a process would look that much smaller. */
const pageBytes = findPageBytes()

/** @returns undefined where the process has ended, or the system has no /proc */
export function readProcessorUse(pid: number | undefined): ProcessorUse | undefined {
  const stat = read(`/proc/${pid}/task/${pid}/stat`)
  // The second field is the name of the program, which may hold anything.
  const [state, , , , , , , , , , , user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (system === undefined) return undefined
  return { cpuMs: (Number(user) + Number(system)) * tickMs, isWaiting: state === 'R' }
}

/** @returns native memory included; 0 where the system has no /proc */
export const readResidentBytes = (pid: number | undefined): number =>
  pid === undefined ? 0 : readResidentPages(pid) * pageBytes

/** @returns how many tasks of this machine compete for each of its processors, at least 1 */
export function readCompetition(): number {
  const running = Number(/ (\d+)\//.exec(read('/proc/loadavg'))?.[1] ?? 1)
  return Math.max(1, running / availableParallelism())
}

function findPageBytes(): number {
  const pages = readResidentPages('self')
  return pages === 0 ? 4096 : 2 ** Math.round(Math.log2(process.memoryUsage.rss() / pages))
}

function readResidentPages(pid: number | 'self'): number {
  return Number(read(`/proc/${pid}/statm`).split(' ')[1] ?? 0)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
