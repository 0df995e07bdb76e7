import type { Manifest } from '../../schemas/generated/manifest.ts'
import { type Origin, systemOrigin } from '../access/actor.ts'
import type { Db } from '../db/db.ts'
import { findRunning, type Installation, listRunning, type Running } from '../db/queries/installations.ts'
import {
  findPlaceLevel,
  installationOf,
  keyOf,
  type Level,
  readPlaceLevels,
  readPlaceLevelsOf,
  textOfKey,
} from '../db/queries/levels.ts'
import { eachIdPage } from '../db/queries/list-installations.ts'
import {
  insertStatusChanges,
  listLastChanges,
  listLastChangesOf,
  type StatusChange,
} from '../db/queries/status-changes.ts'
import { transact } from '../db/sql.ts'
import { shownStatusOf, whyPending } from './level-settings.ts'

/** All causes of a change of status. docs/installations.md lists them. */
export const statusCauses = [
  ...['recorded', 'installed', 'set_up', 'setup_failed', 'settings', 'version', 'agreement'],
  ...['paused', 'resumed', 'suspended', 'retired', 'secret_key'],
] as const

/** What has changed a status. `event`: the setup event; `version`: the number of the version that runs since. */
export type StatusCause = {
  why: (typeof statusCauses)[number]
  origin: Origin
  event?: string
  version?: number
}

/**
 * Keeps the change of a level's status, in the transaction of its cause. The status depends on the settings, the version and the
 * level above, so it is compared to the last one that was kept. A change of an account may change its sites and spaces.
 */
export async function noteStatus(transaction: Db, level: Level, cause: StatusCause): Promise<void> {
  await insertStatusChanges(transaction, await findChanges(transaction, level, cause))
}

/** After another version of the integration was deployed, or after it was retired. */
export async function noteStatusesOf(db: Db, integration: string, cause: StatusCause): Promise<void> {
  for await (const ids of eachIdPage(db, { integration })) await notePage(db, ids, () => cause)
}

/**
 * At a start: what has changed a status while no host saw it, as another key in a row, or a host that was killed between a
 * deployment and its changes.
 *
 * @param signal ends it after a page
 */
export async function noteFoundStatuses(db: Db, signal: AbortSignal): Promise<void> {
  for await (const ids of eachIdPage(db, {})) {
    if (signal.aborted) return
    await notePage(db, ids, toFoundCause)
  }
}

type Found = { running: Running; now: Level; last: StatusChange | undefined }

function toFoundCause({ running, now, last }: Found): StatusCause {
  const origin = systemOrigin
  if (last === undefined) return { why: 'recorded', origin }
  if (now.isUnreadable || now.above?.isUnreadable || last.why === 'secret_key')
    return { why: 'secret_key', origin }
  const { versionNumber: version } = running
  return version === undefined ? { why: 'retired', origin } : { why: 'version', origin, version }
}

/** One statement for each table. The last changes are read first: the number of a change that is stored meanwhile is taken then. */
async function notePage(
  db: Db,
  ids: readonly string[],
  toCause: (found: Found) => StatusCause,
): Promise<void> {
  const last = byKey(await listLastChangesOf(db, ids))
  const running = await listRunning(db, ids)
  const installations = running.map(({ installation }) => installation)
  const places = Map.groupBy(await readPlaceLevelsOf(db, installations), installationIdOf)
  const changes = running.flatMap((one) =>
    [one.installation, ...(places.get(one.installation.id) ?? [])].flatMap((now) => {
      const before = last.get(textOfKey(keyOf(now)))
      return toChange(one.manifest, now, before, toCause({ running: one, now, last: before }))
    }),
  )
  if (changes.length === 0) return
  await transact(db, (transaction) => insertStatusChanges(transaction, changes))
}

const installationIdOf = (level: Level): string => installationOf(level).id

async function findChanges(db: Db, level: Level, cause: StatusCause): Promise<StatusChange[]> {
  const running = await findRunning(db, installationOf(level).id)
  if (running === undefined) return []
  const { installation, manifest } = running
  const last = byKey(await listLastChanges(db, keyOf(level)))
  return (await readLevels(db, installation, level)).flatMap((now) =>
    toChange(manifest, now, last.get(textOfKey(keyOf(now))), cause),
  )
}

async function readLevels(db: Db, installation: Installation, level: Level): Promise<Level[]> {
  if (level.kind === 'account') return [installation, ...(await readPlaceLevels(db, installation))]
  const { kind, placeId } = level
  const place = await findPlaceLevel(db, installation, { kind, placeId })
  return place === undefined ? [] : [place]
}

const byKey = (changes: readonly StatusChange[]): Map<string, StatusChange> =>
  new Map(changes.map((one) => [textOfKey(one), one]))

/** A level stays pending where its setup fails again: that is kept, too. @returns nothing when nothing has changed */
function toChange(
  manifest: Manifest | undefined,
  level: Level,
  last: StatusChange | undefined,
  { why, origin, event, version }: StatusCause,
): StatusChange[] {
  const toStatus = shownStatusOf(manifest, level)
  const reason = reasonOf(manifest, level, toStatus)
  const fails = why === 'setup_failed' && toStatus === 'pending' && reason !== last?.reason
  if (level.removingAt !== null || (last?.toStatus === toStatus && !fails)) return []
  const change = {
    ...keyOf(level),
    number: (last?.number ?? 0) + 1,
    fromStatus: last?.toStatus ?? null,
    toStatus,
    why,
    reason,
    actorKind: origin.actor.kind,
    actorId: origin.actor.id,
    requestId: origin.requestId,
    eventId: event ?? null,
    version: version ?? null,
    at: Date.now(),
  }
  return [change]
}

const longestReason = 2_000

function reasonOf(manifest: Manifest | undefined, level: Level, status: string): string | null {
  if (status === 'active') return null
  const problems =
    status === 'pending'
      ? whyPending(manifest, level).map(
          ({ path, message }) => `${path.replace('/configuration/', '')}: ${message}`,
        )
      : []
  const reason = level.statusReason ?? (problems.length === 0 ? null : `${problems.join('. ')}.`)
  return reason === null ? null : reason.slice(0, longestReason)
}
