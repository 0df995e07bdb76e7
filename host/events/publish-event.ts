import { assertFits } from '../assert-json.ts'
import { maxEventBytes } from '../config/json-sizes.ts'
import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import type { GroupCommit } from '../db/group-commit.ts'
import { insertEvents } from '../db/queries/events.ts'
import { insertJobs, type NewJob } from '../db/queries/jobs.ts'
import { AnnexError } from '../errors.ts'
import { toSubject } from '../installations/setup-event.ts'
import { createMatchReader, placeOfEvent, type Recipient } from './match-installations.ts'
import { type PublishedEvent, validateEvent } from './validate-event.ts'

export type PublishEvent = (organizationId: string, event: unknown) => Promise<PublishReceipt>

/** `installations` is the number that get the event. Those of `waiting` get it when they are resumed. */
export type PublishReceipt = {
  eventId: string
  duplicate: boolean
  installations: number
  waiting?: string[]
}

/**
 * Checks an event and stores it with a job for each matching installation, before it is acknowledged. The job of a paused or
 * suspended installation waits. An `eventId` that the organization has used before stores nothing.
 *
 * @param observe counts the event
 * @throws AnnexError `event_invalid`, `body_too_large`, `not_found`
 */
export async function publishEvent(
  commits: GroupCommit,
  organizationId: string,
  value: unknown,
  observe: (type: string, receipt: PublishReceipt) => void,
): Promise<PublishReceipt> {
  const given = toPublishing(organizationId, validateEvent(value))
  const receipt = await commits.store(storeEvents, given)
  if (receipt === undefined) throw placeNotFound(organizationId, given.event)
  observe(given.event.type, receipt)
  return receipt
}

const tooLarge = (bytes: number): string =>
  `The event was not stored: it has ${bytes} bytes as JSON, and at most ${maxEventBytes} are allowed. Publish an id or an address, and let receivers fetch the rest.`

/** A checked event of an organization. */
export type Publishing = { organizationId: string; event: PublishedEvent; payload: string }

/** @throws AnnexError `body_too_large` */
export function toPublishing(organizationId: string, event: PublishedEvent): Publishing {
  const payload = JSON.stringify(event)
  // A handler must be able to deliver each acknowledged event.
  assertFits(payload, maxEventBytes, tooLarge)
  return { organizationId, event, payload }
}

/**
 * Stores a group of events with their jobs. A change of records stores its event by this in its own transaction.
 *
 * @returns `undefined` for an event whose site or space belongs to another organization: it is not stored
 */
export async function storeEvents(
  transaction: Db,
  group: readonly Publishing[],
): Promise<(PublishReceipt | undefined)[]> {
  const reader = createMatchReader(transaction)
  const areInside = await Promise.all(group.map((one) => reader.isInOrganization(one)))
  const valid = group.filter((_one, n) => areInside[n])
  const areNew = await insertEvents(
    transaction,
    valid.map(({ organizationId, event, payload }) => ({
      id: event.eventId,
      organizationId,
      type: event.type,
      siteId: typeof event.siteId === 'string' ? event.siteId : null,
      payload,
      receivedAt: Date.now(),
    })),
  )
  const recipients = await Promise.all(valid.map((one, n) => (areNew[n] ? reader.recipientsOf(one) : [])))
  const newJobs = valid.flatMap(({ event }, n) =>
    (recipients[n] ?? []).map((recipient) => toJob(recipient, event, nowOf(transaction))),
  )
  await insertJobs(transaction, newJobs)
  const receiptOf = new Map(
    valid.map((one, n) => [one, toReceipt(one, areNew[n] === true, recipients[n] ?? [])]),
  )
  return group.map((one) => receiptOf.get(one))
}

function toReceipt({ event }: Publishing, isNew: boolean, recipients: readonly Recipient[]): PublishReceipt {
  const waiting = recipients.flatMap(({ level, waits }) => (waits ? [level.installationId] : []))
  const receipt = { eventId: event.eventId, duplicate: !isNew, installations: recipients.length }
  return waiting.length === 0 ? receipt : { ...receipt, waiting }
}

function toJob({ level, waits }: Recipient, event: PublishedEvent, dueAt: number): NewJob {
  const { installationId } = level
  const subject = toSubject({ level, event: { ...event, installationId } })
  return { kind: 'event', subject, lane: installationId, dueAt, state: waits ? 'waiting' : 'due' }
}

function placeNotFound(organizationId: string, event: PublishedEvent): AnnexError {
  const { kind, id } = placeOfEvent(event)
  return new AnnexError('not_found', `The event was not stored: ${organizationId} has no ${kind} ${id}.`)
}
