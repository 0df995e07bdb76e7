import { setTimeout as sleep } from 'node:timers/promises'
import type { Api } from '../../api/create-api.ts'
import type { Installation, Integration, TargetInstallation } from '../../api/records.ts'
import { type Level, levelPath, readLevel, settingsOf } from './installed-level.ts'
import { toSettings } from './settings-from-text.ts'

/**
 * Changes some settings of a level. The API replaces all of them, so what is there is read first and kept.
 *
 * @param change.set pairs `name=value`
 * @param change.unset names of settings to take away
 * @throws ApiError `configuration_invalid` with a detail for each setting; nothing is changed then
 */
export async function configureLevel(
  api: Api,
  integration: Integration,
  level: Level,
  change: { set: string[]; unset?: string[] },
): Promise<Installation | TargetInstallation> {
  const given = toSettings(change.set, settingsOf(integration, level)?.properties)
  const { configuration } = await readLevel(api, level)
  const kept = Object.entries(configuration).filter(([name]) => !change.unset?.includes(name))
  return api.patch(levelPath(level), { configuration: { ...Object.fromEntries(kept), ...given } })
}

const patienceMs = 10_000

/**
 * A level without settings becomes active by itself once its script has seen the setup event. Waits for that, so
 * that an event published by the next command finds it active.
 */
export async function waitUntilActive(
  api: Api,
  integration: Integration,
  level: Level,
): Promise<Installation | TargetInstallation> {
  const settings = settingsOf(integration, level)
  const hasSettings =
    settings?.componentId !== undefined || Object.keys(settings?.properties ?? {}).length > 0
  const until = Date.now() + patienceMs
  for (;;) {
    const found = await readLevel(api, level)
    if (hasSettings || found.status !== 'pending' || Date.now() > until) return found
    await sleep(50)
  }
}
