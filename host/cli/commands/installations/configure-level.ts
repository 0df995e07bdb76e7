import { setTimeout as sleep } from 'node:timers/promises'
import { type Api, toPath } from '../../client.ts'
import type { Installation, Integration, TargetInstallation } from '../../records.ts'
import { type Level, levelPath, readLevel, settingsOf } from './installed-level.ts'
import { toSettings } from './settings-from-text.ts'

/** Settings from pairs `name=value`. @throws ApiError `configuration_invalid` with a detail for each that is wrong */
export async function checkSettings(
  api: Api,
  integration: Integration,
  { place }: Pick<Level, 'place'>,
  pairs: string[],
): Promise<Record<string, unknown>> {
  const configuration = toSettings(pairs, settingsOf(integration, { place })?.properties)
  const level = place?.object ?? 'account'
  await api.post(toPath`/v1/integrations/${integration.name}/settings/check`, { level, configuration })
  return configuration
}

/** Changes some settings of a level, one after the other. The others stay as they are. */
export async function configureLevel(
  api: Api,
  level: Level,
  change: { set: Record<string, unknown>; unset?: string[] },
): Promise<Installation | TargetInstallation> {
  const pathOf = (name: string) => `${levelPath(level)}/configuration${toPath`/${name}`}`
  for (const name of change.unset ?? []) await api.delete(pathOf(name))
  for (const [name, value] of Object.entries(change.set)) await api.put(pathOf(name), { value })
  return await readLevel(api, level)
}

const patienceMs = 10_000

/**
 * A level whose settings are complete becomes active by itself once its script has seen the setup event. Waits for
 * that, so that an event published by the next command finds it active.
 */
export async function waitUntilActive(api: Api, level: Level): Promise<Installation | TargetInstallation> {
  const until = Date.now() + patienceMs
  for (;;) {
    const found = await readLevel(api, level)
    if (found.problems !== undefined || found.status !== 'pending' || Date.now() > until) return found
    await sleep(50)
  }
}
