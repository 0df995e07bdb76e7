import { isDeepStrictEqual } from 'node:util'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Origin } from '../access/actor.ts'
import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import {
  activateTarget,
  noteSetupFailure,
  readTargets,
  updateTarget,
} from '../db/queries/installation-targets.ts'
import {
  activateInstallation,
  type Configuration,
  type SettingDetails,
  updateInstallation,
} from '../db/queries/installations.ts'
import { replaceLevelIds } from '../db/queries/level-external-ids.ts'
import { writeTransaction } from '../db/sql.ts'
import type { SettingProblem } from '../manifest/settings/check-configuration.ts'
import { auditConnections, auditSettings, toShown } from './audit-level.ts'
import { type ConnectionEdit, claimConnection, connectedButtons, detailsAfter } from './connections.ts'
import { assertValid, isDeclared, keptSettings, openMasks, without } from './edit-rules.ts'
import {
  assertReadable,
  componentOf,
  findProblems,
  type InstalledLevel,
  levelOf,
  previousOf,
  statusOf,
} from './level-settings.ts'
import { lockLevel } from './lock-level.ts'
import { markedNames, secretMask, secretsAfter, secretTexts } from './secret-settings.ts'
import { queueSetup } from './setup-event.ts'
import { retypedNames } from './typed-hosts.ts'
import { splitConfiguration, usableSettings } from './usable-settings.ts'

/** Compares the settings that an edit began with to the stored ones. Throws when they are not the same. */
type AssertFresh = (before: InstalledLevel) => void

/** The conditions of an edit, and where it comes from. */
export type Editing = { assertFresh: AssertFresh; origin: Origin }

export type Edit = { configuration?: Configuration; externalIds?: string[] }

/** `keep`: the stored values that are not replaced, where `settings` means the declared ones. */
export type ScriptEdit = Edit & { keep?: 'settings' | 'all'; connection?: ConnectionEdit }

/**
 * An edit by a person (spec 3): the new settings replace the old ones, are checked together, and cause the setup event. Values
 * that a script has stored beside the settings stay.
 *
 * @throws AnnexError `configuration_invalid` with a detail for each setting. Nothing is changed then.
 */
export async function editByInstaller(
  db: Db,
  manifest: Manifest,
  level: InstalledLevel,
  edit: Edit,
  { assertFresh, origin }: Editing,
): Promise<void> {
  const { configuration: given } = edit
  await writeTransaction(db, async (transaction) => {
    const before = await lockLevel(transaction, level)
    assertFresh(before)
    if (given === undefined) {
      await update(transaction, before, edit)
      const after = await lockLevel(transaction, before)
      return auditSettings(transaction, origin, manifest, { before, after })
    }
    const configuration = openMasks(manifest, before, given)
    assertValid(manifest, findProblems(manifest, before, configuration))
    const stored = { ...keptSettings(manifest, before), ...configuration }
    const entered = Object.keys(given).filter((name) => given[name] !== secretMask)
    const typed = retypedNames(before.target ?? before.installation, given, entered)
    await storeEdit(transaction, manifest, before, { ...edit, configuration: stored, entered, typed }, origin)
  })
}

/**
 * A person sets or removes one setting (spec 3). Other missing settings are no error: the level is `pending` until all
 * required ones are there. Removing the value of a button disconnects it.
 *
 * @param setting.value `undefined` removes it
 * @param setting.label stands for the value in a list of choices
 * @throws AnnexError `configuration_invalid` with the setting's error. Nothing is changed then.
 */
export async function editSetting(
  db: Db,
  manifest: Manifest,
  level: InstalledLevel,
  { name, label, ...given }: { name: string; value: unknown; label?: string },
  { assertFresh, origin }: Editing,
): Promise<void> {
  await writeTransaction(db, async (transaction) => {
    const before = await lockLevel(transaction, level)
    assertFresh(before)
    const { configuration: stored, settingDetails } = before.target ?? before.installation
    const { declared } = splitConfiguration(manifest, levelOf(before.target), stored)
    const value = openMasks(manifest, before, { [name]: given.value })[name]
    const problems = findProblems(manifest, before, { ...declared, [name]: value })
    const isConnection = Object.hasOwn(settingDetails, name) && settingDetails[name]?.connection !== undefined
    const isUnknown = !isDeclared(manifest, before, name) && !isConnection
    const isRefused = ({ path, kind }: SettingProblem) =>
      path === '' || (path === name && (kind === 'invalid' || value === ''))
    if (value !== undefined || isUnknown) assertValid(manifest, problems.filter(isRefused))
    if (value === undefined && !Object.hasOwn(stored, name)) return
    const configuration = value === undefined ? without(stored, name) : { ...stored, [name]: value }
    const labelled =
      label !== undefined && typeof value === 'string' ? { [name]: { label: { value, label } } } : {}
    const entered = given.value === secretMask ? [] : [name]
    await storeEdit(
      transaction,
      manifest,
      before,
      { configuration, entered, typed: entered },
      origin,
      labelled,
    )
  })
}

/**
 * An edit by the script itself: it may store any values, above all credentials. It causes a setup event only where it makes
 * the level active: the handler of a setup event may be the editor. For what people enter, see `setUpAfterAction`.
 *
 * @throws AnnexError `configuration_invalid` when a declared setting gets a value of another type
 */
export async function editByScript(
  db: Db,
  manifest: Manifest,
  level: InstalledLevel,
  { configuration: replacing, externalIds, keep, connection }: ScriptEdit,
  { assertFresh, origin }: Editing,
): Promise<void> {
  const now = nowOf(db)
  await writeTransaction(db, async (transaction) => {
    const before = await lockLevel(transaction, level)
    assertReadable(before)
    assertFresh(before)
    const { configuration: stored, settingDetails: details } = before.target ?? before.installation
    if (connection !== undefined && 'step' in connection && connection.step === 'claim') {
      return update(transaction, before, {
        settingDetails: claimConnection(manifest, levelOf(before.target), {
          ...{ details, now },
          names: connection.names,
        }),
      })
    }
    const { declared: settings } = splitConfiguration(manifest, levelOf(before.target), stored)
    const kept = replacing === undefined || keep === 'all' ? stored : keep === 'settings' ? settings : {}
    const connected =
      connection !== undefined && 'callback' in connection
        ? connectedButtons(manifest, levelOf(before.target), connection.callback, replacing)
        : {}
    const changed = { ...connected, ...replacing }
    // A script that stores what it has read deletes no value that it did not get.
    const usable = usableSettings(manifest, levelOf(before.target), before.target ?? before.installation)
    const hidden = Object.entries(stored).filter(([name]) => !Object.hasOwn(usable, name))
    const given = { ...Object.fromEntries(hidden), ...kept, ...changed }
    const { declared } = splitConfiguration(manifest, levelOf(before.target), given)
    const problems = findProblems(manifest, before, declared, 'integration')
    const isGiven = ({ path }: SettingProblem) => path === '' || Object.hasOwn(changed, path)
    assertValid(
      manifest,
      problems.filter((problem) => problem.kind === 'invalid' && isGiven(problem)),
    )
    const settingDetails = detailsAfter(manifest, levelOf(before.target), {
      details,
      previous: stored,
      stored: given,
      secrets: secretsAfter(manifest, levelOf(before.target), before.target ?? before.installation, {
        after: given,
        known: secretsOf(manifest, before),
      }),
      ...(connection && { edit: connection }),
      now,
    })
    await update(transaction, before, {
      configuration: given,
      settingDetails,
      ...(externalIds && { externalIds }),
    })
    const isSet = Object.keys(componentOf(manifest, before) === undefined ? declared : given).length > 0
    if (problems.length === 0 && isSet) await activate(transaction, before)
    const after = await lockLevel(transaction, before)
    const isShown = JSON.stringify(toShown(manifest, before)) !== JSON.stringify(toShown(manifest, after))
    // A refreshed credential is no change for people.
    if (isShown) await auditSettings(transaction, origin, manifest, { before, after })
    await auditConnections(transaction, origin, { before, after })
    const [from, to] = [statusOf(manifest, before), statusOf(manifest, after)]
    if (from !== 'pending' || to !== 'active') return
    await queueSetups(transaction, {
      ...after,
      status: to,
      previous: previousOf(manifest, before),
    })
  })
}

/**
 * After an action in the component of a level's settings. What the script has stored then comes from a person, so it causes
 * the setup event of an edit. Where it has made the level active, `editByScript` has queued that event. The component of a site
 * or space may store settings of the account as well.
 *
 * @param given the level before the action
 */
export async function setUpAfterAction(db: Db, manifest: Manifest, given: InstalledLevel): Promise<void> {
  const { installation, target } = given
  await writeTransaction(db, async (transaction) => {
    for (const before of target === undefined ? [given] : [{ installation }, given]) {
      const after = await lockLevel(transaction, before)
      const { configuration } = before.target ?? before.installation
      const stored = (after.target ?? after.installation).configuration
      const [from, to] = [statusOf(manifest, before), statusOf(manifest, after)]
      if (from !== 'active' || to !== 'active' || isDeepStrictEqual(stored, configuration)) continue
      await queueSetups(transaction, { ...after, status: to, previous: previousOf(manifest, before) })
    }
  })
}

/** Keeps the label of a chosen value, for times when the script does not answer. A secret gets none. */
export async function keepLabel(
  db: Db,
  level: InstalledLevel,
  name: string,
  label: { value: string; label: string },
): Promise<void> {
  await writeTransaction(db, async (transaction) => {
    const before = await lockLevel(transaction, level)
    const { configuration, settingDetails: details } = before.target ?? before.installation
    if (configuration[name] !== label.value || markedNames(details).includes(name)) return
    await update(transaction, before, { settingDetails: { ...details, [name]: { ...details[name], label } } })
  })
}

/**
 * After its setup event a level becomes `active`. A level with a component becomes active by its first edit, which is the
 * script's: the component stores what people enter.
 */
export async function activateAfterSetup(db: Db, manifest: Manifest, level: InstalledLevel): Promise<void> {
  const { status } = level.target ?? level.installation
  if (status !== 'pending') return
  if (componentOf(manifest, level) === undefined) await activate(db, level)
  else await noteSetupFailure(db, level, null)
}

/** The secrets that the script of a level has: its own ones, and the account's. */
const secretsOf = (manifest: Manifest, { installation, target }: InstalledLevel) => [
  ...secretTexts(manifest, 'account', installation),
  ...(target === undefined ? [] : secretTexts(manifest, target.kind, target)),
]

/** Stores a person's edit, and queues its setup event. */
async function storeEdit(
  transaction: Db,
  manifest: Manifest,
  before: InstalledLevel,
  {
    configuration: stored,
    externalIds,
    entered,
    typed,
  }: Edit & { configuration: Configuration; entered: readonly string[]; typed: readonly string[] },
  origin: Origin,
  label: SettingDetails = {},
): Promise<void> {
  const { configuration, settingDetails: known } = before.target ?? before.installation
  const settingDetails = detailsAfter(manifest, levelOf(before.target), {
    details: { ...known, ...label },
    previous: configuration,
    stored,
    secrets: secretsAfter(manifest, levelOf(before.target), before.target ?? before.installation, {
      after: stored,
      entered: new Set(entered),
    }),
    typed,
    now: nowOf(transaction),
  })
  await update(transaction, before, {
    configuration: stored,
    settingDetails,
    ...(externalIds && { externalIds }),
  })
  await activate(transaction, before)
  const now = await lockLevel(transaction, before)
  await auditSettings(transaction, origin, manifest, { before, after: now })
  const previous = previousOf(manifest, before)
  await queueSetups(transaction, { ...now, status: statusOf(manifest, now), previous })
}

/** After an edit. Setups of sites and spaces that failed without the account's settings run again after one of the account. */
async function queueSetups(transaction: Db, edited: Parameters<typeof queueSetup>[1]): Promise<void> {
  const { installation, target } = edited
  await queueSetup(transaction, edited)
  if (target !== undefined) return
  for (const one of await readTargets(transaction, installation.id)) {
    if (one.statusReason === null) continue
    await queueSetup(transaction, { installation, target: one, status: one.status })
  }
}

/** The statement changes the status as it is stored now: a pause or a suspension stays. */
function activate(db: Db, { installation, target }: InstalledLevel): Promise<void> {
  if (target === undefined) return activateInstallation(db, installation.id)
  return activateTarget(db, target)
}

async function update(
  db: Db,
  { installation, target }: InstalledLevel,
  change: Edit & { settingDetails?: SettingDetails },
) {
  const { id: installationId, integration } = installation
  const { kind, targetId } = target ?? { kind: 'account' as const, targetId: '' }
  if (change.externalIds !== undefined) {
    await replaceLevelIds(db, { integration, installationId, kind, targetId }, change.externalIds)
  }
  if (kind === 'account') return updateInstallation(db, installationId, change)
  return updateTarget(db, { installationId, kind, targetId }, change)
}
