import type { Db } from '../db/open-database.ts'
import { insertEvent } from '../db/queries/events.ts'
import { insertJobs } from '../db/queries/jobs.ts'
import { findSite } from '../db/queries/sites.ts'
import { findSpace } from '../db/queries/spaces.ts'
import { AnnexError } from '../errors/annex-error.ts'
import type { EventJob } from '../installations/setup-event.ts'
import { matchingInstallations, placeOf } from './matching-installations.ts'
import { type PublishedEvent, validateEvent } from './validate-event.ts'

export type PublishEvent = (organizationId: string, event: unknown) => Promise<PublishReceipt>

export type PublishReceipt = { eventId: string; duplicate: boolean; installations: number }

/**
 * Takes an event in: checked, stored, and owed to every installation that it concerns, all before it is
 * acknowledged. An `eventId` that the organization has used before changes nothing, and the receipt says so.
 *
 * @param wake tells the worker that there is work
 * @throws AnnexError `event_invalid`, `not_found`
 */
export async function publishEvent(
  db: Db,
  wake: () => void,
  organizationId: string,
  value: unknown,
): Promise<PublishReceipt> {
  const event = validateEvent(value)
  await assertPlaceIsTheirs(db, organizationId, event)
  const receipt = await db.transaction(async (transaction) => {
    const { eventId, type } = event
    const payload = JSON.stringify(event)
    const isNew = await insertEvent(transaction, {
      id: eventId,
      organizationId,
      type,
      payload,
      receivedAt: Date.now(),
    })
    if (!isNew) return { eventId, duplicate: true, installations: 0 }
    const levels = await matchingInstallations(transaction, organizationId, event)
    const jobs = levels.map((level) => {
      const subject: EventJob = { level, event: { ...event, installationId: level.installationId } }
      return { kind: 'event' as const, subject, lane: level.installationId, dueAt: Date.now() }
    })
    await insertJobs(transaction, jobs)
    return { eventId, duplicate: false, installations: levels.length }
  })
  wake()
  return receipt
}

async function assertPlaceIsTheirs(db: Db, organizationId: string, event: PublishedEvent): Promise<void> {
  const { kind, id } = placeOf(event)
  const place = kind === 'site' ? await findSite(db, id) : await findSpace(db, id)
  if (place?.organizationId === organizationId) return
  throw new AnnexError('not_found', `The event was not stored: ${organizationId} has no ${kind} ${id}.`)
}
