import { isDeepStrictEqual } from 'node:util'
import type { ConfigurationLevel, Manifest, Property } from '../../schemas/generated/manifest.ts'
import type { Configuration, SettingDetails } from '../db/queries/installations.ts'
import { createRedactor } from '../logs/create-redactor.ts'
import { type LevelKind, propertyOf, type SettingProblem } from '../manifest/settings/check-configuration.ts'

// Secret settings: people set them, and see a mask. Whether a value is secret is stored with the value, as the next version may
// declare no secret there.

/** What people see of a secret. In their edits it stands for the stored value. */
export const secretMask = '[secret]'

/** The settings of a level as they are stored. */
export type StoredSettings = { kind: LevelKind; configuration: Configuration; settingDetails: SettingDetails }

const isSecret = (property: Property | undefined): boolean =>
  property?.type === 'string' && property.secret === true

const isMarked = (details: SettingDetails, name: string): boolean =>
  Object.hasOwn(details, name) && details[name]?.secret === true

/** The settings whose values no person may see: the version declares them as secret, or they were entered as secrets. */
export function secretNames(
  manifest: Manifest | undefined,
  { kind, settingDetails }: Omit<StoredSettings, 'configuration'>,
): ReadonlySet<string> {
  return new Set([...declaredSecrets(manifest?.configurations?.[kind]), ...markedNames(settingDetails)])
}

/** The names of the secrets of all levels: a site has the account's, too. */
export const secretSettings = (
  { configurations = {} }: Manifest,
  stored: readonly Omit<StoredSettings, 'kind'>[],
): ReadonlySet<string> =>
  new Set([
    ...Object.values(configurations).flatMap(declaredSecrets),
    ...stored.flatMap(({ configuration, settingDetails }) =>
      markedNames(settingDetails).filter((name) => typeof configuration[name] === 'string'),
    ),
  ])

const declaredSecrets = (level: ConfigurationLevel | undefined): string[] =>
  Object.entries(level?.properties ?? {}).flatMap(([name, property]) => (isSecret(property) ? [name] : []))

export const markedNames = (details: SettingDetails): string[] =>
  Object.keys(details).filter((name) => isMarked(details, name))

/** The secret texts of a level. */
export function secretTexts(
  manifest: Manifest | undefined,
  level: StoredSettings,
): [name: string, value: string][] {
  const { configuration } = level
  return [...secretNames(manifest, level)].flatMap((name): [string, string][] => {
    const value = Object.hasOwn(configuration, name) ? configuration[name] : undefined
    return typeof value === 'string' && value !== '' ? [[name, value]] : []
  })
}

/**
 * The settings whose values are secret after an edit. A value that stays is as secret as before. A person who enters a value
 * again, where the version declares no secret, makes it visible.
 *
 * @param given.entered the settings that a person has entered. Without it the edit is the script's: a copy of a secret, under
 *   whichever name, is a secret
 * @param given.known the secrets that the script has
 */
export function secretsAfter(
  manifest: Manifest,
  before: StoredSettings,
  given: { after: Configuration } & (
    | { entered: ReadonlySet<string> }
    | { known: [name: string, value: string][] }
  ),
): ReadonlySet<string> {
  const holdsSecret = 'known' in given ? createSecretTest(given.known) : () => false
  const secret = Object.entries(given.after).filter(([name, value]) => {
    const property = propertyOf(manifest, before.kind, name)
    if (isSecret(property) || (property?.type === 'button' && typeof value === 'string')) return true
    if ('entered' in given && given.entered.has(name)) return false
    const isSame =
      Object.hasOwn(before.configuration, name) && isDeepStrictEqual(before.configuration[name], value)
    return (isSame && isMarked(before.settingDetails, name)) || holdsSecret(value)
  })
  return new Set(secret.map(([name]) => name))
}

/** True for a text that is one of the secrets, or has one in it, in the forms that logs are searched for. */
function createSecretTest(secrets: [name: string, value: string][]): (value: unknown) => boolean {
  const values = new Set<unknown>(secrets.map(([, value]) => value))
  const redact = createRedactor(secrets)
  return (value) => values.has(value) || (typeof value === 'string' && redact(value) !== value)
}

/** Puts the stored secrets where an edit has their mask. A mask of a secret that is not stored is a problem. */
export function withStoredSecrets(
  manifest: Manifest,
  stored: StoredSettings,
  given: Configuration,
): { configuration: Configuration; problems: SettingProblem[] } {
  const secrets = secretNames(manifest, stored)
  const masked = Object.keys(given).filter(
    (name) => given[name] === secretMask && propertyOf(manifest, stored.kind, name) !== undefined,
  )
  const known = masked.filter((name) => secrets.has(name) && Object.hasOwn(stored.configuration, name))
  const problems = masked
    .filter((name) => !known.includes(name))
    .map((path) => ({ path, message: 'is not set yet: send the secret itself', kind: 'invalid' as const }))
  const opened = Object.fromEntries(known.map((name) => [name, stored.configuration[name]]))
  return { configuration: { ...given, ...opened }, problems }
}
