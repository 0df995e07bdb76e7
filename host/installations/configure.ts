import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Db } from '../db/db.ts'
import {
  activateTarget,
  findTarget,
  type InstallationTarget,
  updateTarget,
} from '../db/queries/installed/installation-targets.ts'
import {
  activateInstallation,
  type Configuration,
  findInstallation,
  type Installation,
  updateInstallation,
} from '../db/queries/installed/installations.ts'
import { AnnexError } from '../errors/annex-error.ts'
import {
  type Level as ConfigurationLevel,
  checkConfiguration,
  type SettingProblem,
} from '../manifest/settings/configuration-schema.ts'
import { splitConfiguration } from './effective-configuration.ts'
import { oweSetup } from './setup-event.ts'

export type Edit = { configuration?: Configuration; externalIds?: string[] }

export type Edited = { installation: Installation; target?: InstallationTarget }

/**
 * An edit by a person (spec 3): the new settings replace the old ones, are checked as a whole, set off the
 * setup event, and make the level active. What a script has stored beside the settings stays.
 *
 * @throws AnnexError `configuration_invalid` with a detail for each setting; nothing is changed then
 */
export async function editByInstaller(db: Db, manifest: Manifest, edited: Edited, edit: Edit): Promise<void> {
  const { configuration: stored, status } = edited.target ?? edited.installation
  if (edit.configuration === undefined) return update(db, edited, edit)
  assertValid(manifest, findProblems(manifest, edited, edit.configuration))
  const configuration = { ...keptSettings(manifest, levelOf(edited.target), stored), ...edit.configuration }
  await db.transaction(async (transaction) => {
    await update(transaction, edited, { ...edit, configuration })
    await activate(transaction, edited)
    const now = await readAgain(transaction, edited)
    await oweSetup(transaction, { ...now, previous: { status, configuration: stored } })
  })
}

/**
 * An edit by the script itself: it may store what it likes, credentials above all. It sets off no setup event,
 * since the handler of one may be what edits; once what the manifest requires is there, the level is active.
 *
 * @throws AnnexError `configuration_invalid` when a declared setting gets a value of another type
 */
export async function editByScript(db: Db, manifest: Manifest, edited: Edited, edit: Edit): Promise<void> {
  const { configuration: stored } = edited.target ?? edited.installation
  const { declared } = splitConfiguration(manifest, levelOf(edited.target), edit.configuration ?? stored)
  const problems = findProblems(manifest, edited, declared, 'integration')
  // Not what the account's settings stand in for: that is not this edit's doing.
  const isGiven = ({ path }: SettingProblem) => path === '' || Object.hasOwn(edit.configuration ?? {}, path)
  assertValid(
    manifest,
    problems.filter((problem) => problem.kind === 'invalid' && isGiven(problem)),
  )
  const isComplete = problems.length === 0
  const hasSettings = Object.keys(declared).length > 0
  await update(db, edited, edit)
  if (isComplete && hasSettings) await activate(db, edited)
}

/** In a site or space the account's values stand in for what is not given. */
function findProblems(
  manifest: Manifest,
  { installation, target }: Edited,
  given: Configuration,
  by: 'installer' | 'integration' = 'installer',
): SettingProblem[] {
  const level = levelOf(target)
  const account = target === undefined ? {} : installation.configuration
  const inherited = splitConfiguration(manifest, level, account).declared
  const { configuration: stored } = target ?? installation
  return checkConfiguration(manifest, level, { ...inherited, ...given }, { by, stored }).problems
}

function assertValid(manifest: Manifest, problems: SettingProblem[]): void {
  if (problems.length === 0) return
  const details = problems.map(({ path, message }) => ({ path, message }))
  const list = details.map(({ path, message }) => `  ${path}: ${message}`).join('\n')
  throw new AnnexError(
    'configuration_invalid',
    `These settings of ${manifest.name} cannot be used, and nothing was changed:\n${list}`,
    { details },
  )
}

/** What a person's edit leaves alone: what the script stored, and what connecting stored under a button. */
function keptSettings(manifest: Manifest, level: ConfigurationLevel, stored: Configuration): Configuration {
  const properties = manifest.configurations?.[level]?.properties ?? {}
  const isKept = (name: string) => !Object.hasOwn(properties, name) || properties[name]?.type === 'button'
  return Object.fromEntries(Object.entries(stored).filter(([name]) => isKept(name)))
}

/** After its setup event, a level that declares no settings is active: there is nothing to edit. */
export async function activateWithoutSettings(db: Db, manifest: Manifest, edited: Edited): Promise<void> {
  const { status } = edited.target ?? edited.installation
  const level = levelOf(edited.target)
  const declaration = manifest.configurations?.[level]
  const hasSettings =
    declaration !== undefined &&
    ('componentId' in declaration || Object.keys(declaration.properties ?? {}).length > 0)
  if (status === 'pending' && !hasSettings) await activate(db, edited)
}

const levelOf = (target: InstallationTarget | undefined): ConfigurationLevel => target?.kind ?? 'account'

/** Only `pending` moves, as it is now and not as it was read: this lifts no pause, and no suspension. */
function activate(db: Db, { installation, target }: Edited): Promise<void> {
  if (target === undefined) return activateInstallation(db, installation.id)
  const { installationId, kind, targetId } = target
  return activateTarget(db, { installationId, kind, targetId })
}

async function update(db: Db, { installation, target }: Edited, change: Edit) {
  if (target === undefined) return updateInstallation(db, installation.id, change)
  const { installationId, kind, targetId } = target
  return updateTarget(db, { installationId, kind, targetId }, change)
}

async function readAgain(db: Db, { installation, target }: Edited): Promise<Edited> {
  if (target !== undefined) {
    const { installationId, kind, targetId } = target
    return { installation, target: (await findTarget(db, { installationId, kind, targetId })) ?? target }
  }
  return { installation: (await findInstallation(db, installation.id)) ?? installation }
}
