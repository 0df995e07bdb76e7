/** How often the loop of `spin` counts in a millisecond of CPU time: some machines do it three times as fast as others. */
const countsPerMs = measure()

/**
 * The source of an expression that takes about so many milliseconds of CPU time without a pause. It counts, as the clock of a
 * script stands still meanwhile.
 *
 * @param ms a number, or the source of one
 */
export function spin(ms: number | string): string {
  return loop(ms, countsPerMs)
}

function loop(rounds: number | string, counts: number): string {
  return `(() => {
    let n = 0
    for (let left = ${rounds}; left > 0; left--) for (let i = 0; i < ${counts}; i++) n = (n + i) | 0
    return n
  })()`
}

function measure(): number {
  const rounds = 300
  const counts = 1e6
  const run = new Function(`return ${loop(rounds, counts)}`)
  const before = process.threadCpuUsage()
  run()
  // Linux counts in steps of 4 ms.
  const { user, system } = process.threadCpuUsage(before)
  return Math.round((rounds * counts * 1000) / (user + system))
}
