import { isDeepStrictEqual } from 'node:util'
import type { Manifest, Property } from '../../schemas/generated/manifest.ts'
import type { Configuration, SettingDetails } from '../db/queries/installations.ts'
import type { Level } from '../db/queries/levels.ts'
import {
  checkConfiguration,
  type LevelKind,
  propertyOf,
  type SettingProblem,
  withDefaults,
} from '../manifest/settings/check-configuration.ts'
import type { StoredSettings } from './secret-settings.ts'

// A stored value says what it was stored as: a setting, or the connection of a button. Without that mark a script has stored it
// beside the settings. So a later version gets no setting that it has dropped, and no text in place of a connection.

type Kind = NonNullable<SettingDetails[string]['kind']>

const kindOf = (property: Property): Kind => (property.type === 'button' ? 'connection' : 'setting')

function declaredKind(manifest: Manifest, level: LevelKind, name: string): Kind | undefined {
  const property = propertyOf(manifest, level, name)
  return property && kindOf(property)
}

/** What a value is stored as. A value that stays keeps its mark while no version declares its name. */
export function kindAfter(
  manifest: Manifest,
  level: LevelKind,
  name: string,
  { before, isKept }: { before: Kind | undefined; isKept: boolean },
): Kind | undefined {
  return isKept && before !== undefined ? before : declaredKind(manifest, level, name)
}

/** Separates declared settings from values that a script has stored beside them. */
export function splitConfiguration(
  manifest: Manifest,
  level: LevelKind,
  configuration: Configuration,
): { declared: Configuration; scriptOwned: Configuration } {
  const settings = manifest.configurations?.[level]?.properties ?? {}
  const entries = Object.entries(configuration)
  return {
    declared: Object.fromEntries(entries.filter(([name]) => Object.hasOwn(settings, name))),
    scriptOwned: Object.fromEntries(entries.filter(([name]) => !Object.hasOwn(settings, name))),
  }
}

/** Leaves out settings that the version has dropped, and values that were stored as something else than it declares. */
export function withoutStale(
  manifest: Manifest,
  { kind: level, configuration, settingDetails }: StoredSettings,
): Configuration {
  // A component stores settings that no manifest names.
  const keepsAll = manifest.configurations?.[level]?.componentId !== undefined
  const isUsable = (name: string) => {
    const kind = Object.hasOwn(settingDetails, name) ? settingDetails[name]?.kind : undefined
    const declared = declaredKind(manifest, level, name)
    return kind === undefined || kind === declared || (declared === undefined && keepsAll)
  }
  return Object.fromEntries(Object.entries(configuration).filter(([name]) => isUsable(name)))
}

/**
 * Checks given settings for stored values that `withoutStale` leaves out. A text in place of a connection counts as not set.
 * A connection in place of another setting is a problem.
 */
export function checkStale(
  manifest: Manifest,
  stored: StoredSettings,
  given: Configuration,
): { kept: Configuration; problems: SettingProblem[] } {
  const usable = withoutStale(manifest, stored)
  const isStale = ([name, value]: [string, unknown]) =>
    Object.hasOwn(stored.configuration, name) &&
    !Object.hasOwn(usable, name) &&
    isDeepStrictEqual(value, stored.configuration[name])
  const isConnection = ([name]: [string, unknown]) =>
    declaredKind(manifest, stored.kind, name) === 'connection'
  const entries = Object.entries(given)
  const message = 'holds a connection that an older version has made: enter a value'
  return {
    kept: Object.fromEntries(entries.filter((entry) => !(isConnection(entry) && isStale(entry)))),
    problems: entries
      .filter((entry) => declaredKind(manifest, stored.kind, entry[0]) === 'setting' && isStale(entry))
      .map(([path]) => ({ path, message, kind: 'invalid' })),
  }
}

/** Leaves out values that do not fit the manifest's declaration. */
export function withoutUnfit(
  manifest: Manifest,
  level: LevelKind,
  configuration: Configuration,
): Configuration {
  const { declared } = splitConfiguration(manifest, level, configuration)
  if (Object.keys(declared).length === 0) return configuration
  const { problems } = checkConfiguration(manifest, level, declared, { by: 'integration' })
  const unfit = problems.filter(({ kind }) => kind === 'invalid').map(({ path }) => path)
  return Object.fromEntries(Object.entries(configuration).filter(([name]) => !unfit.includes(name)))
}

/** The stored values of a level that its script gets, without defaults. */
export const usableSettings = (manifest: Manifest, stored: StoredSettings): Configuration =>
  withoutUnfit(manifest, stored.kind, withoutStale(manifest, stored))

/** Values of the account that a site or space takes. One name may have another type there. */
export function inheritedBy(manifest: Manifest, level: LevelKind, account: Configuration): Configuration {
  const isSame = (name: string) => {
    const [own, other] = [declaredKind(manifest, level, name), declaredKind(manifest, 'account', name)]
    return own === undefined || other === undefined || own === other
  }
  const entries = Object.entries(account).filter(([name]) => isSame(name))
  return withoutUnfit(manifest, level, Object.fromEntries(entries))
}

/**
 * The settings that a script reads: the manifest's defaults, over them the account's values, over them the level's own. A
 * level stores its own values alone: a changed default reaches each level without a value. Stored values that do not fit the
 * deployed version are left out, so that the script's types hold.
 */
export function effectiveConfiguration(manifest: Manifest, level: Level): Configuration {
  const { kind, above } = level
  const ownValues = usableSettings(manifest, level)
  if (above === undefined) return withDefaults(manifest, kind, ownValues)
  const inherit = (values: Configuration) => inheritedBy(manifest, kind, values)
  return {
    ...inherit(withDefaults(manifest, 'account', {})),
    ...withDefaults(manifest, kind, {}),
    ...inherit(usableSettings(manifest, above)),
    ...ownValues,
  }
}
