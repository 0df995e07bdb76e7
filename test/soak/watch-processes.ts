import { descendantsOf, sumUsed } from '../bench/measure/cpu-time.ts'
import type { BenchedAnnex } from '../bench/servers/start-annex.ts'

/** Samples memory, and counts the processes that are gone. */
export function watchProcesses(annex: BenchedAnnex) {
  const seen = new Set<number>()
  let alive: number[] = []
  let hostPeak = 0
  let sandboxesPeak = 0
  const readHost = () => sumUsed([annex.pid]).residentBytes / 1024 ** 2
  const timer = setInterval(() => {
    alive = descendantsOf(annex.pid)
    for (const pid of alive) seen.add(pid)
    hostPeak = Math.max(hostPeak, readHost())
    sandboxesPeak = Math.max(sandboxesPeak, sumUsed(alive).residentBytes / 1024 ** 2)
  }, 50)
  return {
    hostMb: readHost,
    hostPeakMb: () => hostPeak,
    sandboxesPeakMb: () => sandboxesPeak,
    ended: () => seen.size - alive.length,
    stop: () => clearInterval(timer),
  }
}
