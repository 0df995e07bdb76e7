import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Configuration } from '../db/queries/installations.ts'
import type { Level } from '../db/queries/levels.ts'
import { AnnexError } from '../errors.ts'
import {
  checkConfiguration,
  type LevelKind,
  propertyOf,
  type SettingProblem,
} from '../manifest/settings/check-configuration.ts'
import { settingPointer } from './level-settings.ts'
import { withStoredSecrets } from './secret-settings.ts'

// The rules of an edit of settings, before it is stored.

/**
 * Checks settings before their level exists. A missing setting is no error. An empty text for a required one is.
 *
 * @throws AnnexError `configuration_invalid` with a detail for each setting
 */
export function assertSettable(manifest: Manifest, level: LevelKind, given: Configuration): void {
  const { problems } = checkConfiguration(manifest, level, given)
  assertValid(
    manifest,
    problems.filter(({ path, kind }) => kind === 'invalid' || given[path] === ''),
  )
}

export function assertValid(manifest: Manifest, problems: SettingProblem[]): void {
  if (problems.length === 0) return
  const details = problems.map(({ path, message }) => ({ path: settingPointer(path), message }))
  const list = problems.map(({ path, message }) => `  ${path}: ${message}`).join('\n')
  throw new AnnexError(
    'configuration_invalid',
    `These settings of ${manifest.name} cannot be used, and nothing was changed:\n${list}`,
    { details },
  )
}

/** @throws AnnexError `configuration_invalid` for the mask of a secret that is not stored */
export function openMasks(manifest: Manifest, level: Level, given: Configuration) {
  const opened = withStoredSecrets(manifest, level, given)
  assertValid(manifest, opened.problems)
  return opened.configuration
}

/** Values that a person's edit keeps: values of the script, and credentials under buttons. */
export function keptSettings(manifest: Manifest, { kind, configuration }: Level): Configuration {
  const properties = manifest.configurations?.[kind]?.properties ?? {}
  const isKept = (name: string) => !Object.hasOwn(properties, name) || properties[name]?.type === 'button'
  return Object.fromEntries(Object.entries(configuration).filter(([name]) => isKept(name)))
}

export const isDeclared = (manifest: Manifest, { kind }: Level, name: string): boolean =>
  propertyOf(manifest, kind, name) !== undefined

/** Credentials are stored under their button and as `oauth_credentials`: both are removed. */
export function without(stored: Configuration, name: string): Configuration {
  const value = JSON.stringify(stored[name])
  const isSame = (other: string) => other === 'oauth_credentials' && JSON.stringify(stored[other]) === value
  return Object.fromEntries(Object.entries(stored).filter(([other]) => other !== name && !isSame(other)))
}
