import type { ConfigurationLevel, Manifest, Property } from '../../schemas/generated/manifest.ts'
import type { Configuration } from '../db/queries/installations.ts'
import type { SettingProblem, Level as SettingsLevel } from '../manifest/settings/check-configuration.ts'

// Settings with `secret: true`: people set them, and see a mask.

/** What people see of a secret. In their edits it stands for the stored value. */
export const secretMask = '[secret]'

export const isSecret = (property: Property): boolean =>
  property.type === 'string' && property.secret === true

/** The names of the secrets of all levels: a site has the account's, too. */
export const secretSettings = ({ configurations = {} }: Manifest): ReadonlySet<string> =>
  new Set(Object.values(configurations).flatMap(secretsOf))

/** Puts the stored secrets where an edit has their mask. A mask of a secret that is not stored is a problem. */
export function withStoredSecrets(
  manifest: Manifest,
  level: SettingsLevel,
  { given, stored }: { given: Configuration; stored: Configuration },
): { configuration: Configuration; problems: SettingProblem[] } {
  const masked = secretsOf(manifest.configurations?.[level]).filter((name) => given[name] === secretMask)
  const known = masked.filter((name) => Object.hasOwn(stored, name))
  const problems = masked
    .filter((name) => !known.includes(name))
    .map((path) => ({ path, message: 'is not set yet: send the secret itself', kind: 'invalid' as const }))
  const secrets = Object.fromEntries(known.map((name) => [name, stored[name]]))
  return { configuration: { ...given, ...secrets }, problems }
}

const secretsOf = (level: ConfigurationLevel | undefined): string[] =>
  Object.entries(level?.properties ?? {}).flatMap(([name, property]) => (isSecret(property) ? [name] : []))
