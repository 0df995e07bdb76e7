import { isDeepStrictEqual } from 'node:util'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Origin } from '../access/actor.ts'
import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import type { Configuration, InstallationStatus, SettingDetails } from '../db/queries/installations.ts'
import { replaceLevelIds } from '../db/queries/level-external-ids.ts'
import {
  activateLevel,
  installationOf,
  keyOf,
  type Level,
  levelsTo,
  noteSetupFailure,
  readPlaceLevels,
  updateLevel,
} from '../db/queries/levels.ts'
import { transact } from '../db/sql.ts'
import type { SettingProblem } from '../manifest/settings/check-configuration.ts'
import { auditConnection, auditConnections, auditLevel, auditSettings, toShown } from './audit-level.ts'
import { type ConnectionEdit, claimConnection, connectedButtons, detailsAfter } from './connections.ts'
import { assertValid, isDeclared, keptSettings, openMasks, without } from './edit-rules.ts'
import { splitConfiguration, usableSettings } from './effective-settings.ts'
import { holdOther, takeHeld } from './held-connections.ts'
import { assertReadable, componentOf, findProblems, previousOf, statusOf } from './level-settings.ts'
import { lockLevel } from './lock-level.ts'
import { noteStatus, type StatusCause } from './note-status.ts'
import { markedNames, secretMask, secretsAfter, secretTexts } from './secret-settings.ts'
import { queueSetup } from './setup-event.ts'
import { retypedNames } from './typed-hosts.ts'

/** Compares the settings that an edit began with to the stored ones. Throws when they are not the same. */
type AssertFresh = (before: Level) => void

/** The conditions of an edit, and where it comes from. */
export type Editing = { assertFresh: AssertFresh; origin: Origin }

export type Edit = { configuration?: Configuration; externalIds?: string[] }

/** `keep`: the stored values that are not replaced, where `settings` means the declared ones. */
export type ScriptEdit = Edit & { keep?: 'settings' | 'all'; connection?: ConnectionEdit }

/**
 * An edit by a person (spec 3): the new settings replace the old ones, are checked together, and cause the setup event. Values
 * that a script has stored beside the settings stay.
 *
 * @returns the id of its setup event. An edit of `externalIds` alone has none
 * @throws AnnexError `configuration_invalid` with a detail for each setting. Nothing is changed then.
 */
export async function editByInstaller(
  db: Db,
  manifest: Manifest,
  level: Level,
  edit: Edit,
  { assertFresh, origin }: Editing,
): Promise<string | undefined> {
  const { configuration: given } = edit
  return transact(db, async (transaction) => {
    const before = await lockLevel(transaction, level)
    assertFresh(before)
    if (given === undefined) {
      await update(transaction, before, edit)
      const after = await lockLevel(transaction, before)
      await auditSettings(transaction, origin, manifest, { before, after })
      return undefined
    }
    const configuration = openMasks(manifest, before, given)
    assertValid(manifest, findProblems(manifest, before, configuration))
    const stored = { ...keptSettings(manifest, before), ...configuration }
    const entered = Object.keys(given).filter((name) => given[name] !== secretMask)
    const typed = retypedNames(before, given, entered)
    return storeEdit(
      transaction,
      manifest,
      before,
      { ...edit, configuration: stored, entered, typed },
      origin,
    )
  })
}

/**
 * A person sets or removes one setting (spec 3). Other missing settings are no error: the level is `pending` until all
 * required ones are there. Removing the value of a button disconnects it. Values that a script has stored beside the settings
 * can be removed, too.
 *
 * @param setting.value `undefined` removes it
 * @param setting.label stands for the value in a list of choices
 * @returns the id of its setup event. An edit that removes nothing has none
 * @throws AnnexError `configuration_invalid` with the setting's error. Nothing is changed then.
 */
export async function editSetting(
  db: Db,
  manifest: Manifest,
  level: Level,
  { name, label, ...given }: { name: string; value: unknown; label?: string },
  { assertFresh, origin }: Editing,
): Promise<string | undefined> {
  return transact(db, async (transaction) => {
    const before = await lockLevel(transaction, level)
    assertFresh(before)
    const { configuration: stored } = before
    const { declared } = splitConfiguration(manifest, before.kind, stored)
    const value = openMasks(manifest, before, { [name]: given.value })[name]
    const problems = findProblems(manifest, before, { ...declared, [name]: value })
    const isUnknown = !isDeclared(manifest, before, name) && !Object.hasOwn(stored, name)
    const isRefused = ({ path, kind }: SettingProblem) =>
      path === '' || (path === name && (kind === 'invalid' || value === ''))
    if (value !== undefined || isUnknown) assertValid(manifest, problems.filter(isRefused))
    if (value === undefined && !Object.hasOwn(stored, name)) return undefined
    const configuration = value === undefined ? without(stored, name) : { ...stored, [name]: value }
    const labelled =
      label !== undefined && typeof value === 'string' ? { [name]: { label: { value, label } } } : {}
    const entered = given.value === secretMask ? [] : [name]
    const edit = { configuration, entered, typed: entered }
    return storeEdit(transaction, manifest, before, edit, origin, labelled)
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
  level: Level,
  edit: ScriptEdit,
  { assertFresh, origin }: Editing,
): Promise<void> {
  const { connection } = edit
  const now = nowOf(db)
  await transact(db, async (transaction) => {
    const before = await lockLevel(transaction, level)
    assertReadable(before)
    assertFresh(before)
    const { kind, settingDetails: details } = before
    if (connection !== undefined && 'step' in connection && connection.step === 'claim') {
      return update(transaction, before, {
        settingDetails: claimConnection(manifest, kind, { details, now, names: connection.names }),
      })
    }
    const held = holdOther(manifest, before, edit, now)
    if (held === undefined) return storeScriptEdit(transaction, manifest, before, edit, origin)
    await update(transaction, before, { settingDetails: held.details })
    await auditConnection(transaction, origin, before, { ...held, action: 'connection.hold' })
  })
}

/**
 * A person says yes or no to another account that a connection has come back as. With a yes all is stored that the script has
 * sent with it.
 *
 * @param given.account as the person has read it. Without it the answer is no
 * @throws AnnexError `conflict` when none waits, or another one by now; `configuration_invalid`
 */
export async function answerHeld(
  db: Db,
  manifest: Manifest,
  level: Level,
  { name, account, origin }: { name: string; account?: string; origin: Origin },
): Promise<void> {
  await transact(db, async (transaction) => {
    const before = await lockLevel(transaction, level)
    assertReadable(before)
    const held = takeHeld<ScriptEdit>(manifest, before, { name, account, now: nowOf(db) })
    const freed = { ...before, settingDetails: held.details }
    if (account !== undefined) return storeScriptEdit(transaction, manifest, freed, held.edit, origin)
    await update(transaction, before, { settingDetails: held.details })
    const after = { connections: held.names, account: held.account }
    await auditLevel(transaction, origin, before, { action: 'connection.refuse', after })
  })
}

async function storeScriptEdit(
  transaction: Db,
  manifest: Manifest,
  before: Level,
  { configuration: replacing, externalIds, keep, connection }: ScriptEdit,
  origin: Origin,
): Promise<void> {
  const now = nowOf(transaction)
  const { kind, configuration: stored, settingDetails: details } = before
  const { declared: settings } = splitConfiguration(manifest, kind, stored)
  const kept = replacing === undefined || keep === 'all' ? stored : keep === 'settings' ? settings : {}
  const connected =
    connection !== undefined && 'callback' in connection
      ? connectedButtons(manifest, kind, connection.callback, replacing)
      : {}
  const changed = { ...connected, ...replacing }
  // A script that stores what it has read deletes no value that it did not get.
  const usable = usableSettings(manifest, before)
  const hidden = Object.entries(stored).filter(([name]) => !Object.hasOwn(usable, name))
  const given = { ...Object.fromEntries(hidden), ...kept, ...changed }
  const { declared } = splitConfiguration(manifest, kind, given)
  const problems = findProblems(manifest, before, declared, 'integration')
  const isGiven = ({ path }: SettingProblem) => path === '' || Object.hasOwn(changed, path)
  assertValid(
    manifest,
    problems.filter((problem) => problem.kind === 'invalid' && isGiven(problem)),
  )
  const settingDetails = detailsAfter(manifest, kind, {
    details,
    previous: stored,
    stored: given,
    secrets: secretsAfter(manifest, before, {
      after: given,
      known: levelsTo(before).flatMap((level) => secretTexts(manifest, level)),
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
  if (problems.length === 0 && isSet) await activateLevel(transaction, before)
  const after = await lockLevel(transaction, before)
  const isShown = JSON.stringify(toShown(manifest, before)) !== JSON.stringify(toShown(manifest, after))
  // A refreshed credential is no change for people.
  if (isShown) await auditSettings(transaction, origin, manifest, { before, after })
  await auditConnections(transaction, origin, { before, after })
  await noteStatus(transaction, after, { why: 'settings', origin })
  const [from, to] = [statusOf(manifest, before), statusOf(manifest, after)]
  if (from !== 'pending' || to !== 'active') return
  await queueSetups(transaction, after, to, previousOf(manifest, before))
}

/**
 * After an action in the component of a level's settings. What the script has stored then comes from a person, so it causes
 * the setup event of an edit. Where it has made the level active, `editByScript` has queued that event. The component of a site
 * or space may store settings of the account as well.
 *
 * @param given the level before the action
 */
export async function setUpAfterAction(db: Db, manifest: Manifest, given: Level): Promise<void> {
  await transact(db, async (transaction) => {
    for (const before of levelsTo(given)) {
      const after = await lockLevel(transaction, before)
      const [from, to] = [statusOf(manifest, before), statusOf(manifest, after)]
      const isSame = isDeepStrictEqual(after.configuration, before.configuration)
      if (from !== 'active' || to !== 'active' || isSame) continue
      await queueSetups(transaction, after, to, previousOf(manifest, before))
    }
  })
}

/** Keeps the label of a chosen value, for times when the script does not answer. A secret gets none. */
export async function keepLabel(
  db: Db,
  level: Level,
  name: string,
  label: { value: string; label: string },
): Promise<void> {
  await transact(db, async (transaction) => {
    const before = await lockLevel(transaction, level)
    const { configuration, settingDetails: details } = before
    if (configuration[name] !== label.value || markedNames(details).includes(name)) return
    await update(transaction, before, { settingDetails: { ...details, [name]: { ...details[name], label } } })
  })
}

/**
 * After its setup event a level becomes `active`. A level with a component becomes active by its first edit, which is the
 * script's: the component stores what people enter.
 */
export async function activateAfterSetup(
  db: Db,
  manifest: Manifest,
  level: Level,
  cause: Omit<StatusCause, 'why'>,
): Promise<void> {
  if (level.status !== 'pending') return
  if (componentOf(manifest, level) === undefined) await activateLevel(db, level)
  else await noteSetupFailure(db, level, null)
  await noteStatus(db, level, { why: 'set_up', ...cause })
}

/** Stores a person's edit, and queues its setup event. @returns the id of the event */
async function storeEdit(
  transaction: Db,
  manifest: Manifest,
  before: Level,
  {
    configuration: stored,
    externalIds,
    entered,
    typed,
  }: Edit & { configuration: Configuration; entered: readonly string[]; typed: readonly string[] },
  origin: Origin,
  label: SettingDetails = {},
): Promise<string> {
  const { configuration, settingDetails: known } = before
  const settingDetails = detailsAfter(manifest, before.kind, {
    details: { ...known, ...label },
    previous: configuration,
    stored,
    secrets: secretsAfter(manifest, before, { after: stored, entered: new Set(entered) }),
    typed,
    now: nowOf(transaction),
  })
  await update(transaction, before, {
    configuration: stored,
    settingDetails,
    ...(externalIds && { externalIds }),
  })
  // A component has to ask first: a person who clears a stored value enters no settings.
  if (componentOf(manifest, before) === undefined) await activateLevel(transaction, before)
  const now = await lockLevel(transaction, before)
  await auditSettings(transaction, origin, manifest, { before, after: now })
  await noteStatus(transaction, now, { why: 'settings', origin })
  return queueSetups(transaction, now, statusOf(manifest, now), previousOf(manifest, before))
}

/** After an edit. Setups of sites and spaces that failed without the account's settings run again after one of the account. */
async function queueSetups(
  transaction: Db,
  level: Level,
  status: InstallationStatus,
  previous: Parameters<typeof queueSetup>[3],
): Promise<string> {
  const eventId = await queueSetup(transaction, level, status, previous)
  if (level.kind !== 'account') return eventId
  for (const place of await readPlaceLevels(transaction, level)) {
    if (place.statusReason !== null) await queueSetup(transaction, place, place.status)
  }
  return eventId
}

async function update(
  db: Db,
  level: Level,
  change: Edit & { settingDetails?: SettingDetails },
): Promise<void> {
  if (change.externalIds !== undefined) {
    const { integration } = installationOf(level)
    await replaceLevelIds(db, { integration, ...keyOf(level) }, change.externalIds)
  }
  await updateLevel(db, level, change)
}
