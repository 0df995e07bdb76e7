import { sumUsed } from '../measure/cpu-time.ts'

const everyMs = 50

/** Samples the resident memory of a process. `stop` returns the peak, in MB. */
export function watchMemory(pid: number): { stop: () => number } {
  const read = () => sumUsed([pid]).residentBytes / 1024 ** 2
  let peak = read()
  const timer = setInterval(() => {
    peak = Math.max(peak, read())
  }, everyMs)
  return {
    stop() {
      clearInterval(timer)
      return Math.max(peak, read())
    },
  }
}
