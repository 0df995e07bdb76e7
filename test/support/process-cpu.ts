import { readdirSync, readFileSync } from 'node:fs'

/** Linux tells all programs times in hundredths of a second, whatever its own clock is. */
const ticksOfSecond = 100

type Times = { parent: number; ownTicks: number; endedTicks: number }

/**
 * CPU seconds of a process and all below it: those that run, and those that have ended and were waited for. A process whose
 * parent ended first belongs to the tree no more. @returns undefined where the system has no /proc
 */
export function readTreeCpu(root: number): number | undefined {
  const rootTimes = readTimes(root)
  if (rootTimes === undefined) return undefined
  const children = new Map<number, Times[]>()
  const pids = new Map<Times, number>()
  for (const name of readdirSync('/proc')) {
    const times = /^\d+$/.test(name) ? readTimes(Number(name)) : undefined
    if (times === undefined) continue
    pids.set(times, Number(name))
    children.set(times.parent, [...(children.get(times.parent) ?? []), times])
  }
  const sum = (times: Times, pid: number): number =>
    (children.get(pid) ?? []).reduce(
      (ticks, child) => ticks + sum(child, pids.get(child) ?? 0),
      times.ownTicks + times.endedTicks,
    )
  return sum(rootTimes, root) / ticksOfSecond
}

/** @returns undefined for a process that has gone */
function readTimes(pid: number): Times | undefined {
  try {
    // The name, in parentheses, may hold anything.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\)/s, '')
      .trim()
      .split(' ')
      .map(Number)
    const [, parent = 0] = fields
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15)
    return { parent, ownTicks: user + system, endedTicks: endedUser + endedSystem }
  } catch {
    return undefined
  }
}
