import { createHmac } from 'node:crypto'
import { toPointer } from '../../schemas/describe-error.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Configuration, Installation, InstallationStatus } from '../db/queries/installations.ts'
import { installationOf, type Level } from '../db/queries/levels.ts'
import { AnnexError, type ErrorDetail } from '../errors.ts'
import type { SettingProblem } from '../manifest/settings/check-configuration.ts'
import { checkConfiguration } from '../manifest/settings/check-configuration.ts'
import type { LevelRef } from '../sandbox/level-ref.ts'
import {
  checkStale,
  inheritedBy,
  splitConfiguration,
  usableSettings,
  withoutStale,
} from './effective-settings.ts'
import { markedNames, type StoredSettings, secretMask, secretNames } from './secret-settings.ts'

/** The level as paths and jobs name it. */
export function toRef(level: Level): Exclude<LevelRef, { kind: 'integration' }> {
  const { id: installationId, integration } = installationOf(level)
  const { kind, placeId } = level
  return kind === 'account'
    ? { kind: 'installation', integration, installationId }
    : { kind, integration, installationId, placeId }
}

/**
 * `active` is stored when a level is set up. It holds while the level's settings fit the deployed version (spec 7). A new
 * version, or an edit of the account, makes the level `pending` without loss.
 */
export const statusOf = (manifest: Manifest | undefined, level: Level): InstallationStatus =>
  level.status === 'active' && whyPending(manifest, level).length > 0 ? 'pending' : level.status

/** A level before an edit, for its script: with the settings that the script got. */
export function previousOf(
  manifest: Manifest | undefined,
  level: Level,
): { status: InstallationStatus } & Omit<StoredSettings, 'kind'> {
  const { configuration, settingDetails } = level
  const usable = manifest && usableSettings(manifest, level)
  return { status: statusOf(manifest, level), configuration: usable ?? configuration, settingDetails }
}

/** The status that readers see: a site or space is not active before its installation is set up. */
export function shownStatusOf(manifest: Manifest | undefined, level: Level): InstallationStatus {
  const status = statusOf(manifest, level)
  return status === 'active' && level.above?.status === 'pending' ? 'pending' : status
}

/** So long after its last edit, a setup event that is not handled has failed more than once. */
const setupMs = 600_000

/** True until the script has handled the setup event of an installation whose settings are complete. Its events wait meanwhile. */
export const isBeingSetUp = (
  manifest: Manifest | undefined,
  installation: Installation,
  nowMs: number,
): boolean =>
  installation.status === 'pending' &&
  installation.statusReason === null &&
  componentOf(manifest, installation) === undefined &&
  nowMs - installation.updatedAt < setupMs

/** The path of a setting in the level that has it, and in the body of its PATCH. */
export const settingPointer = (name: string): string =>
  toPointer('configuration', ...(name === '' ? [] : [name]))

/** A level in the text of an error. */
export const nameOfLevel = (level: Level): string =>
  level.kind === 'account' ? level.id : `${level.installationId} in the ${level.kind} ${level.placeId}`

function describeUnreadable(level: Level): string {
  return `The settings of ${nameOfLevel(level)} were encrypted with another SECRET_KEY. Set them again, or start Annex with that key.`
}

/** @throws AnnexError `settings_unreadable`: a script must not take lost settings for settings that are not set */
export function assertReadable(level: Level): void {
  if (level.isUnreadable) throw new AnnexError('settings_unreadable', describeUnreadable(level))
}

/** A reason for each setting that is missing or does not fit. */
export function whyPending(manifest: Manifest | undefined, level: Level): ErrorDetail[] {
  if (level.isUnreadable) return [{ path: settingPointer(''), message: describeUnreadable(level) }]
  if (manifest === undefined) return []
  const { declared } = splitConfiguration(manifest, level.kind, level.configuration)
  return findProblems(manifest, level, declared, 'integration').map(({ path, message }) => ({
    path: settingPointer(path),
    message,
  }))
}

/** The component of the script that asks for the settings of a level. */
export const componentOf = (manifest: Manifest | undefined, { kind }: Level): string | undefined =>
  manifest?.configurations?.[kind]?.componentId

/** Why a level is suspended, or why it is pending although no setting is wrong. */
export function statusReasonOf(manifest: Manifest | undefined, level: Level): string | undefined {
  const { status, statusReason, kind, placeId } = level
  if (statusReason !== null) return statusOf(manifest, level) === 'active' ? undefined : statusReason
  const component = componentOf(manifest, level)
  if (status !== 'pending' || component === undefined || level.isUnreadable) return undefined
  const place = kind === 'account' ? '' : ` --${kind} ${placeId}`
  // The manifest is hostile, and people copy the command.
  const command = /^[\w.-]+$/.test(component)
    ? `: npx annex render ${installationOf(level).id} ${component}${place}`
    : '.'
  return `Its settings come from the component "${component}", which has stored none yet${command}`
}

/** A site or space inherits the account's values for settings that are not given, where they fit. */
export function findProblems(
  manifest: Manifest,
  level: Level,
  given: Configuration,
  by: 'installer' | 'integration' = 'installer',
): SettingProblem[] {
  const { kind, above } = level
  const account = above === undefined ? {} : usableSettings(manifest, above)
  const { declared: inherited } = splitConfiguration(manifest, kind, inheritedBy(manifest, kind, account))
  const { kept, problems: stale } = checkStale(manifest, level, given)
  const stored = checkStale(manifest, level, level.configuration).kept
  const { problems } = checkConfiguration(manifest, kind, { ...inherited, ...kept }, { by, stored })
  return [...stale.filter(({ path }) => problems.every((one) => one.path !== path)), ...problems]
}

/** Names the version of a level's settings: another text for each edit. It ignores what a script stores beside them. */
export type SettingsTag = (manifest: Manifest, level: Level) => string

/** @param key keeps the tag from telling the values of settings that are not shown */
export function createSettingsTag(key: Uint8Array): SettingsTag {
  return (manifest, level) => {
    const { kind, placeId, configuration, externalIds, settingDetails } = level
    const { declared } = splitConfiguration(manifest, kind, configuration)
    const secrets = new Set(markedNames(settingDetails))
    const properties = manifest.configurations?.[kind]?.properties ?? {}
    const isButton = (name: string) => properties[name]?.type === 'button'
    // A script replaces the credentials under a button with each refresh.
    // The same value, entered again, may be no secret any more.
    const settings = Object.entries(declared).map(([name, value]) =>
      isButton(name) ? [name, true] : [name, value, ...(secrets.has(name) ? ['secret'] : [])],
    )
    const text = JSON.stringify([installationOf(level).id, placeId, settings.toSorted(), externalIds])
    return `"${createHmac('sha256', key).update(text).digest('base64url').slice(0, 22)}"`
  }
}

/**
 * A level's settings as people see them, without credentials: values under a button, and values that a script stored beside the
 * settings, are left out. An object is left out too: an older version declared a button there. A mask stands for a secret.
 */
export function toVisibleSettings(manifest: Manifest | undefined, level: StoredSettings): Configuration {
  const { kind } = level
  const secrets = secretNames(manifest, level)
  const stored = manifest === undefined ? {} : withoutStale(manifest, level)
  const declared = Object.entries(manifest?.configurations?.[kind]?.properties ?? {})
  const shown = declared.flatMap(([name, property]) => {
    const value = Object.hasOwn(stored, name) ? stored[name] : undefined
    if (property.type === 'button' || value === undefined || typeof value === 'object') return []
    return [[name, secrets.has(name) && value !== '' ? secretMask : value]]
  })
  return Object.fromEntries(shown)
}
