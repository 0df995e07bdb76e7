import { createHmac } from 'node:crypto'
import { toPointer } from '../../schemas/describe-error.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { InstallationTarget } from '../db/queries/installation-targets.ts'
import type { Configuration, Installation, InstallationStatus } from '../db/queries/installations.ts'
import { AnnexError, type ErrorDetail } from '../errors.ts'
import type { SettingProblem, Level as SettingsLevel } from '../manifest/settings/check-configuration.ts'
import { checkConfiguration } from '../manifest/settings/check-configuration.ts'
import type { Level } from '../sandbox/level.ts'
import { markedNames, type StoredSettings, secretMask, secretNames } from './secret-settings.ts'
import {
  checkStale,
  inheritedBy,
  splitConfiguration,
  usableSettings,
  withoutStale,
} from './usable-settings.ts'

/** An installation, or one of its sites or spaces. */
export type InstalledLevel = { installation: Installation; target?: InstallationTarget }

export const levelOf = (target: InstallationTarget | undefined): SettingsLevel => target?.kind ?? 'account'

/** The level as its endpoint names it. */
export function toLevel({
  installation: { id, integration },
  target,
}: InstalledLevel): Exclude<Level, { kind: 'integration' }> {
  return target === undefined
    ? { kind: 'installation', integration, installationId: id }
    : { kind: target.kind, integration, installationId: id, targetId: target.targetId }
}

/**
 * `active` is stored when a level is set up. It holds while the level's settings fit the deployed version (spec 7). A new
 * version, or an edit of the account, makes the level `pending` without loss.
 */
export function statusOf(manifest: Manifest | undefined, level: InstalledLevel): InstallationStatus {
  const { status } = level.target ?? level.installation
  return status === 'active' && whyPending(manifest, level).length > 0 ? 'pending' : status
}

/** A level before an edit, for its script: with the settings that the script got. */
export function previousOf(
  manifest: Manifest | undefined,
  level: InstalledLevel,
): { status: InstallationStatus } & StoredSettings {
  const { configuration, settingDetails } = level.target ?? level.installation
  const stored = { configuration, settingDetails }
  const usable = manifest && usableSettings(manifest, levelOf(level.target), stored)
  return { status: statusOf(manifest, level), configuration: usable ?? configuration, settingDetails }
}

/** The status that readers see: a site or space is not active before its installation is set up. */
export function shownStatusOf(manifest: Manifest | undefined, level: InstalledLevel): InstallationStatus {
  const status = statusOf(manifest, level)
  return status === 'active' && level.target !== undefined && level.installation.status === 'pending'
    ? 'pending'
    : status
}

/** So long after its last edit, a setup event that is not handled has failed more than once. */
const setupMs = 600_000

/** True until the script has handled the setup event of an installation whose settings are complete. Its events wait meanwhile. */
export const isBeingSetUp = (
  manifest: Manifest | undefined,
  { installation }: InstalledLevel,
  nowMs: number,
): boolean =>
  installation.status === 'pending' &&
  installation.statusReason === null &&
  componentOf(manifest, { installation }) === undefined &&
  nowMs - installation.updatedAt < setupMs

/** The place of a setting in the level that has it, and in the body of its PATCH. */
export const settingPointer = (name: string): string =>
  toPointer('configuration', ...(name === '' ? [] : [name]))

const isUnreadable = ({ installation, target }: InstalledLevel): boolean =>
  (target ?? installation).isUnreadable

/** A level in the text of an error. */
export const nameOfLevel = ({ installation, target }: InstalledLevel): string =>
  target === undefined ? installation.id : `${installation.id} in the ${target.kind} ${target.targetId}`

function describeUnreadable(level: InstalledLevel): string {
  return `The settings of ${nameOfLevel(level)} were encrypted with another SECRET_KEY. Set them again, or start Annex with that key.`
}

/** @throws AnnexError `settings_unreadable`: a script must not take lost settings for settings that are not set */
export function assertReadable(level: InstalledLevel): void {
  if (isUnreadable(level)) throw new AnnexError('settings_unreadable', describeUnreadable(level))
}

/** A reason for each setting that is missing or does not fit. */
export function whyPending(manifest: Manifest | undefined, level: InstalledLevel): ErrorDetail[] {
  if (isUnreadable(level)) return [{ path: settingPointer(''), message: describeUnreadable(level) }]
  if (manifest === undefined) return []
  const { configuration } = level.target ?? level.installation
  const { declared } = splitConfiguration(manifest, levelOf(level.target), configuration)
  return findProblems(manifest, level, declared, 'integration').map(({ path, message }) => ({
    path: settingPointer(path),
    message,
  }))
}

/** The component of the script that asks for the settings of a level. */
export const componentOf = (manifest: Manifest | undefined, { target }: InstalledLevel): string | undefined =>
  manifest?.configurations?.[levelOf(target)]?.componentId

/** Why a level is suspended, or why it is pending although no setting is wrong. */
export function statusReasonOf(manifest: Manifest | undefined, level: InstalledLevel): string | undefined {
  const { installation, target } = level
  const { status, statusReason } = target ?? installation
  if (statusReason !== null) return statusOf(manifest, level) === 'active' ? undefined : statusReason
  const component = componentOf(manifest, level)
  if (status !== 'pending' || component === undefined || isUnreadable(level)) return undefined
  const place = target === undefined ? '' : ` --${target.kind} ${target.targetId}`
  // The manifest is hostile, and people copy the command.
  const command = /^[\w.-]+$/.test(component)
    ? `: npx annex render ${installation.id} ${component}${place}`
    : '.'
  return `Its settings come from the component "${component}", which has stored none yet${command}`
}

/** A site or space inherits the account's values for settings that are not given, where they fit. */
export function findProblems(
  manifest: Manifest,
  { installation, target }: InstalledLevel,
  given: Configuration,
  by: 'installer' | 'integration' = 'installer',
): SettingProblem[] {
  const level = levelOf(target)
  const account = target === undefined ? {} : usableSettings(manifest, 'account', installation)
  const { declared: inherited } = splitConfiguration(manifest, level, inheritedBy(manifest, level, account))
  const own = target ?? installation
  const { kept, problems: stale } = checkStale(manifest, level, own, given)
  const stored = checkStale(manifest, level, own, own.configuration).kept
  const { problems } = checkConfiguration(manifest, level, { ...inherited, ...kept }, { by, stored })
  return [...stale.filter(({ path }) => problems.every((one) => one.path !== path)), ...problems]
}

/** Names the version of a level's settings: another text for each edit. It ignores what a script stores beside them. */
export type SettingsTag = (manifest: Manifest, level: InstalledLevel) => string

/** @param key keeps the tag from telling the values of settings that are not shown */
export function createSettingsTag(key: Uint8Array): SettingsTag {
  return (manifest, { installation, target }) => {
    const level = levelOf(target)
    const { configuration, externalIds, settingDetails } = target ?? installation
    const { declared } = splitConfiguration(manifest, level, configuration)
    const secrets = new Set(markedNames(settingDetails))
    const properties = manifest.configurations?.[level]?.properties ?? {}
    const isButton = (name: string) => properties[name]?.type === 'button'
    // A script replaces the credentials under a button with each refresh.
    // The same value, entered again, may be no secret any more.
    const settings = Object.entries(declared).map(([name, value]) =>
      isButton(name) ? [name, true] : [name, value, ...(secrets.has(name) ? ['secret'] : [])],
    )
    const text = JSON.stringify([installation.id, target?.targetId, settings.toSorted(), externalIds])
    return `"${createHmac('sha256', key).update(text).digest('base64url').slice(0, 22)}"`
  }
}

/**
 * A level's settings as people see them, without credentials: values under a button, and values that a script stored beside the
 * settings, are left out. An object is left out too: an older version declared a button there. A mask stands for a secret.
 */
export function toVisibleSettings(
  manifest: Manifest | undefined,
  level: SettingsLevel,
  given: StoredSettings,
): Configuration {
  const secrets = secretNames(manifest, level, given.settingDetails)
  const stored = manifest === undefined ? {} : withoutStale(manifest, level, given)
  const declared = Object.entries(manifest?.configurations?.[level]?.properties ?? {})
  const shown = declared.flatMap(([name, property]) => {
    const value = Object.hasOwn(stored, name) ? stored[name] : undefined
    if (property.type === 'button' || value === undefined || typeof value === 'object') return []
    return [[name, secrets.has(name) && value !== '' ? secretMask : value]]
  })
  return Object.fromEntries(shown)
}
