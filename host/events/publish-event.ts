import { maxEventBytes } from '../config/event-sizes.ts'
import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import type { GroupCommit } from '../db/group-commit.ts'
import { insertEvents } from '../db/queries/events.ts'
import { insertJobs, type NewJob } from '../db/queries/jobs.ts'
import { AnnexError } from '../errors/annex-error.ts'
import { assertFits } from '../errors/text-size.ts'
import type { EventJob } from '../installations/setup-event.ts'
import type { Wake } from '../queue/worker.ts'
import { createMatchReader, placeOf, type Taker } from './match-installations.ts'
import { type PublishedEvent, validateEvent } from './validate-event.ts'

export type PublishEvent = (organizationId: string, event: unknown) => Promise<PublishReceipt>

/** `installations` take the event; for those of `waiting` it waits until they are resumed. */
export type PublishReceipt = {
  eventId: string
  duplicate: boolean
  installations: number
  waiting?: string[]
}

/**
 * Takes an event in: it is checked and stored, with a job for every installation that it concerns, before it is
 * acknowledged. A job for an installation that is paused, suspended or moving waits for its resume. An `eventId` that the
 * organization has used before changes nothing, and the receipt says so.
 *
 * @param wake tells the worker that there is work
 * @param observe counts it
 * @throws AnnexError `event_invalid`, `body_too_large`, `not_found`
 */
export async function publishEvent(
  commits: GroupCommit,
  wake: Wake,
  organizationId: string,
  value: unknown,
  observe: (type: string, receipt: PublishReceipt) => void,
): Promise<PublishReceipt> {
  const event = validateEvent(value)
  const payload = JSON.stringify(event)
  // A handler that passes it on must be able to: it is acknowledged only if it can be delivered.
  assertFits(payload, maxEventBytes, tooLarge)
  const receipt = await commits.store(storeEvents, { organizationId, event, payload })
  if (receipt === undefined) throw placeNotFound(organizationId, event)
  wake()
  observe(event.type, receipt)
  return receipt
}

const tooLarge = (bytes: number): string =>
  `The event was not stored: it has ${bytes} bytes as JSON, and at most ${maxEventBytes} are taken. Publish an id or an address, and let receivers ask for the rest.`

type Publishing = { organizationId: string; event: PublishedEvent; payload: string }

/**
 * Stores events and what they are owed to, a group of them at once. What several of them need is read once.
 *
 * @returns `undefined` for one whose place is not its organization's: it is not stored
 */
async function storeEvents(
  transaction: Db,
  group: readonly Publishing[],
): Promise<(PublishReceipt | undefined)[]> {
  const reader = createMatchReader(transaction)
  const isTheirs = await Promise.all(group.map((one) => reader.isPlaceTheirs(one)))
  const valid = group.filter((_one, n) => isTheirs[n])
  const areNew = await insertEvents(
    transaction,
    valid.map(({ organizationId, event, payload }) => ({
      id: event.eventId,
      organizationId,
      type: event.type,
      payload,
      receivedAt: Date.now(),
    })),
  )
  const takers = await Promise.all(valid.map((one, n) => (areNew[n] ? reader.takersOf(one) : [])))
  const owed = valid.flatMap(({ event }, n) =>
    (takers[n] ?? []).map((taker) => toJob(taker, event, nowOf(transaction))),
  )
  await insertJobs(transaction, owed)
  const receiptOf = new Map(valid.map((one, n) => [one, toReceipt(one, areNew[n] === true, takers[n] ?? [])]))
  return group.map((one) => receiptOf.get(one))
}

function toReceipt({ event }: Publishing, isNew: boolean, takers: readonly Taker[]): PublishReceipt {
  const waiting = takers.flatMap(({ level, waits }) => (waits ? [level.installationId] : []))
  const receipt = { eventId: event.eventId, duplicate: !isNew, installations: takers.length }
  return waiting.length === 0 ? receipt : { ...receipt, waiting }
}

function toJob({ level, waits }: Taker, event: PublishedEvent, dueAt: number): NewJob {
  const { installationId } = level
  const subject: EventJob = { level, event: { ...event, installationId } }
  return { kind: 'event', subject, lane: installationId, dueAt, state: waits ? 'waiting' : 'due' }
}

function placeNotFound(organizationId: string, event: PublishedEvent): AnnexError {
  const { kind, id } = placeOf(event)
  return new AnnexError('not_found', `The event was not stored: ${organizationId} has no ${kind} ${id}.`)
}
