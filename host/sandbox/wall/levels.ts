import type { Attempt } from '../../../runtime/process/probe.ts'

/** The levels of the wall, from the inside to the outside. */
export const levelNames = ['isolate', 'process', 'namespace', 'watchdog', 'heartbeat'] as const

export type LevelName = (typeof levelNames)[number]

export type WallLevel = {
  name: LevelName
  reached: boolean
  /** What showed it, or why it is not reached. */
  shown: string
  /** How to get there, where it is not reached. */
  fix?: string
}

/** What stands between a script and this machine, as it was tried at start. */
export type Wall = {
  levels: WallLevel[]
  attempts: Attempt[]
  /** What encloses a sandbox process: the program that makes its namespaces, or nothing. */
  enclosure: readonly string[]
  /** From the start of a sandbox process until it had tried everything. */
  probeMs: number
}

export const levelOf = (wall: Wall, name: LevelName): WallLevel | undefined =>
  wall.levels.find((level) => level.name === name)

export const hasLevel = (wall: Wall, name: LevelName): boolean => levelOf(wall, name)?.reached === true

/** `isolate, process, watchdog, heartbeat; no namespace (REASON)`: for one line of a log or a banner. */
export function describeWall({ levels }: Wall): string {
  const reached = levels.filter((level) => level.reached).map(({ name }) => name)
  const missing = levels.filter((level) => !level.reached)
  return [reached.join(', '), ...missing.map(({ name, shown }) => `no ${name} (${shown})`)].join('; ')
}
