import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Configuration } from '../db/queries/installed/installations.ts'
import type { Level as ConfigurationLevel } from '../manifest/settings/setting-problems.ts'

export type VisibleSettings = {
  configuration: Configuration
  /** For each button whether it is connected. */
  connections?: Record<string, boolean>
}

/**
 * A level's settings as people see them. Credentials are shown to no person: neither those under a button, nor what a
 * script stored beside the settings. An object is no value of a setting: it was stored under a button of an older version.
 */
export function toVisibleSettings(
  manifest: Manifest | undefined,
  level: ConfigurationLevel,
  stored: Configuration,
): VisibleSettings {
  const declared = Object.entries(manifest?.configurations?.[level]?.properties ?? {})
  const buttons = declared.filter(([, { type }]) => type === 'button')
  const shown = declared.flatMap(([name, { type }]) => {
    const value = Object.hasOwn(stored, name) ? stored[name] : undefined
    return type === 'button' || value === undefined || typeof value === 'object' ? [] : [[name, value]]
  })
  return {
    configuration: Object.fromEntries(shown),
    ...(buttons.length > 0 && {
      connections: Object.fromEntries(buttons.map(([name]) => [name, isConnected(stored, name)])),
    }),
  }
}

const isConnected = (stored: Configuration, button: string): boolean =>
  Object.hasOwn(stored, button) && stored[button] !== null && stored[button] !== ''
