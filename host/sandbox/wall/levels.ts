import type { Attempt } from '../../../runtime/process/probe.ts'

/** From the inside to the outside. */
export const levelNames = ['isolate', 'process', 'namespace', 'watchdog', 'heartbeat'] as const

export type LevelName = (typeof levelNames)[number]

export type WallLevel = {
  name: LevelName
  reached: boolean
  /** The evidence, or the reason why the level is not reached. */
  shown: string
  /** How to reach it. */
  fix?: string
}

/** The barriers between a script and this machine, as tried at start. */
export type Wall = {
  levels: WallLevel[]
  attempts: Attempt[]
  /** The program that makes the namespaces of a sandbox process, with its arguments; empty without namespaces. */
  enclosure: readonly string[]
  /** How long a sandbox process took to start and to try all levels. */
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
