import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Origin } from '../access/actor.ts'
import type { Db } from '../db/db.ts'
import { findRunning, type Installation } from '../db/queries/installations.ts'
import { findPlaceLevel, installationOf, keyOf, type Level, readPlaceLevels } from '../db/queries/levels.ts'
import { eachInstallation } from '../db/queries/list-installations.ts'
import { insertStatusChanges, listLastChanges, type StatusChange } from '../db/queries/status-changes.ts'
import { writeTransaction } from '../db/sql.ts'
import { shownStatusOf, whyPending } from './level-settings.ts'

/** All causes of a change of status. docs/installations.md lists them. */
export const statusCauses = [
  ...['recorded', 'installed', 'set_up', 'setup_failed', 'settings', 'version', 'agreement'],
  ...['paused', 'resumed', 'suspended'],
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

/** After another version was deployed: one transaction for each installation whose status has changed. */
export async function noteStatusesOf(
  db: Db,
  integration: string,
  given: { origin: Origin; version: number },
): Promise<void> {
  const cause = { why: 'version', ...given } as const
  for await (const installation of eachInstallation(db, { integration })) {
    if ((await findChanges(db, installation, cause)).length === 0) continue
    await writeTransaction(db, (transaction) => noteStatus(transaction, installation, cause))
  }
}

async function findChanges(db: Db, level: Level, cause: StatusCause): Promise<StatusChange[]> {
  const running = await findRunning(db, installationOf(level).id)
  if (running === undefined) return []
  const { installation, manifest } = running
  const last = new Map((await listLastChanges(db, keyOf(level))).map((one) => [nameOf(one), one]))
  return (await readLevels(db, installation, level)).flatMap((now) => {
    const change = toChange(manifest, now, last.get(nameOf(keyOf(now))), cause)
    return now.removingAt === null && change !== undefined ? [change] : []
  })
}

async function readLevels(db: Db, installation: Installation, level: Level): Promise<Level[]> {
  if (level.kind === 'account') return [installation, ...(await readPlaceLevels(db, installation))]
  const { kind, placeId } = level
  const place = await findPlaceLevel(db, installation, { kind, placeId })
  return place === undefined ? [] : [place]
}

const nameOf = ({ kind, placeId }: { kind: string; placeId: string }): string => `${kind} ${placeId}`

/** A level stays pending where its setup fails again: that is kept, too. @returns undefined when nothing has changed */
function toChange(
  manifest: Manifest | undefined,
  level: Level,
  last: StatusChange | undefined,
  { why, origin, event, version }: StatusCause,
): StatusChange | undefined {
  const toStatus = shownStatusOf(manifest, level)
  const failed = toStatus === 'pending' ? level.statusReason : null
  if (last?.toStatus === toStatus && (failed === null || failed === last.reason)) return undefined
  return {
    ...keyOf(level),
    number: (last?.number ?? 0) + 1,
    fromStatus: last?.toStatus ?? null,
    toStatus,
    why,
    reason: reasonOf(manifest, level, toStatus),
    actorKind: origin.actor.kind,
    actorId: origin.actor.id,
    requestId: origin.requestId,
    eventId: event ?? null,
    version: version ?? null,
    at: Date.now(),
  }
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
