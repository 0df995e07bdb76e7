import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { createId } from '../db/ids.ts'
import type { InstallationStatus } from '../db/queries/installations.ts'
import { insertJobs } from '../db/queries/jobs.ts'
import { installationOf, type Level } from '../db/queries/levels.ts'
import { openJson, sealJson } from '../db/sealed-json.ts'
import type { LevelRef } from '../sandbox/level-ref.ts'
import { toRef } from './level-settings.ts'
import { markedNames, type StoredSettings } from './secret-settings.ts'

/** The subject of a job of kind `event`: an event, and the level whose script handles it. */
export type EventJob = { level: LevelRef; event: { type: string; eventId: string; [field: string]: unknown } }

/** Stored jobs name a place `targetId`: those of earlier versions do. */
export const toSubject = ({ level, event }: EventJob): object => {
  if (!('placeId' in level)) return { level, event }
  const { placeId, ...ref } = level
  return { level: { ...ref, targetId: placeId }, event }
}

/** The opposite of `toSubject`. */
export function parseSubject(text: string): EventJob {
  const { level, event } = JSON.parse(text)
  if (!('targetId' in level)) return { level, event }
  const { targetId, ...ref } = level
  return { level: { ...ref, placeId: targetId }, event }
}

type Previous = { status: string } & Omit<StoredSettings, 'kind'>

/** Settings in a job are encrypted, as those of their level. `secrets`: the names of those that were secret then. */
type StoredPrevious = { status: string; sealed: string; secrets?: string[] }

/** An event as its handler gets it. Settings that another key has encrypted are left out. */
export function openEvent(db: Db, event: EventJob['event']): EventJob['event'] {
  const isOfLevel = event.type.endsWith('installation_setup') || isLastEvent(event)
  if (event.previous === undefined || !isOfLevel) return event
  const { status, sealed } = event.previous as StoredPrevious
  return { ...event, previous: { status, configuration: openJson(db, sealed) ?? {} } }
}

/** The settings of the event's `previous` that were secret when it was queued. */
export const secretsOfEvent = ({ previous }: EventJob['event']): string[] =>
  (previous as StoredPrevious | undefined)?.secrets ?? []

/**
 * Queues a level's setup event (spec 6.1): after the installation and after each edit.
 *
 * @param previous the level before an edit
 * @returns the id of the event
 */
export async function queueSetup(
  transaction: Db,
  level: Level,
  status: InstallationStatus,
  previous?: Previous,
): Promise<string> {
  return queueLevelEvent(transaction, level, 'setup', { status }, previous)
}

/** Queues the last event of a level that is being uninstalled. */
export async function queueDeleted(transaction: Db, level: Level, previous: Previous): Promise<void> {
  await queueLevelEvent(transaction, level, 'deleted', {}, previous)
}

/** True for the event after which a level ends. */
export const isLastEvent = ({ type }: EventJob['event']): boolean => lastEvents.has(type)

const lastEvents: ReadonlySet<string> = new Set([
  'installation_deleted',
  'site_installation_deleted',
  'space_installation_deleted',
])

async function queueLevelEvent(
  transaction: Db,
  level: Level,
  what: 'setup' | 'deleted',
  fields: object,
  previous: Previous | undefined,
): Promise<string> {
  const { kind, placeId } = level
  const installationId = installationOf(level).id
  const event = {
    eventId: createId('evt'),
    type: kind === 'account' ? `installation_${what}` : `${kind}_installation_${what}`,
    installationId,
    ...(kind !== 'account' && { [`${kind}Id`]: placeId }),
    ...fields,
    ...(previous && {
      previous: {
        status: previous.status,
        sealed: sealJson(transaction, previous.configuration),
        secrets: markedNames(previous.settingDetails),
      },
    }),
  }
  const subject = toSubject({ level: toRef(level), event })
  await insertJobs(transaction, [{ kind: 'event', subject, lane: installationId, dueAt: nowOf(transaction) }])
  return event.eventId
}
