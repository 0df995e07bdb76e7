import type { SettingsForm } from '../../schemas/generated/api/settings-forms.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Level } from '../db/queries/levels.ts'
import { settingsSchema } from '../manifest/settings/settings-schema.ts'
import { toConnections } from './connections.ts'
import { inheritedBy, splitConfiguration, usableSettings } from './effective-settings.ts'
import { secretMask, secretNames } from './secret-settings.ts'

/** What a form of settings shows beside their values. */
export const toSettingsForm = (
  manifest: Manifest,
  version: number,
  level: Level,
  nowMs: number,
): SettingsForm => ({
  object: 'settings_form',
  version,
  hasScript: manifest.script !== undefined,
  schema: { ...settingsSchema(manifest.configurations?.[level.kind]) },
  inherited: inheritedValues(manifest, level),
  stored: storedBeside(manifest, level, nowMs),
})

/** The values of the account that a site or space takes where it has none. Secrets are masked. */
function inheritedValues(manifest: Manifest, { kind, above }: Level): Record<string, unknown> {
  if (above === undefined) return {}
  const properties = manifest.configurations?.[kind]?.properties ?? {}
  const own = secretNames(manifest, { kind, settingDetails: {} })
  const secrets = secretNames(manifest, above)
  const values = Object.entries(inheritedBy(manifest, kind, usableSettings(manifest, above)))
  const shown = values.flatMap(([name, value]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    // Credentials are stored under a button.
    if (property === undefined || property.type === 'button' || typeof value === 'object') return []
    const isSecret = secrets.has(name) || own.has(name)
    return [[name, isSecret && value !== '' ? secretMask : value]]
  })
  return Object.fromEntries(shown)
}

/** Credentials stand in `connections`, and end with their button. */
function storedBeside(manifest: Manifest, level: Level, nowMs: number): string[] {
  const { scriptOwned } = splitConfiguration(manifest, level.kind, level.configuration)
  const connections = toConnections(manifest, level, nowMs) ?? {}
  const isConnected = Object.values(connections).some(({ state }) => state !== 'none')
  return Object.keys(scriptOwned)
    .filter((name) => !Object.hasOwn(connections, name))
    .filter((name) => !(name === 'oauth_credentials' && isConnected))
    .sort()
}
