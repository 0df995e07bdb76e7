import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { createCheck } from '../../schemas/create-check.ts'
import { describeError, pointerOf } from '../../schemas/describe-error.ts'
import {
  eventSchemas,
  type PlaceEventType,
  publishableEventTypes,
  toPublishSchema,
} from '../../schemas/events.ts'
import { createId } from '../db/ids.ts'
import { AnnexError } from '../errors.ts'

/** A published event with its id. Each installation gets it with its own `installationId`. */
export type PublishedEvent = { type: PlaceEventType; eventId: string; [field: string]: unknown }

const maxFields = 50
const maxDetails = 20

const formats = { from: 'ajv-formats/dist/formats.js', name: 'fullFormats' }
const checks = new Map<string, () => ValidateFunction>(
  publishableEventTypes.map((type) => [
    type,
    createCheck(toPublishSchema(eventSchemas[type]), { allErrors: true, strict: false, formats }),
  ]),
)

/**
 * Checks an event against the schema of its type, and adds a missing `eventId`.
 *
 * @throws AnnexError `event_invalid` with a detail for each field
 */
export function validateEvent(value: unknown): PublishedEvent {
  const type = value !== null && typeof value === 'object' && 'type' in value ? value.type : undefined
  const check = typeof type === 'string' ? checks.get(type)?.() : undefined
  if (check === undefined) {
    throw invalid([{ path: '/type', message: `one of ${publishableEventTypes.join(', ')} is needed` }])
  }
  if (Object.keys(value ?? {}).length > maxFields) {
    throw invalid([{ path: '', message: `an event has at most ${maxFields} fields` }])
  }
  if (!check(value)) throw invalid(toDetails(check.errors ?? []))
  return { eventId: createId('evt'), ...(value as Omit<PublishedEvent, 'eventId'>) } as PublishedEvent
}

/** One detail for each field and message: one value may break two rules. */
function toDetails(errors: ErrorObject[]): { path: string; message: string }[] {
  const details = new Map(
    errors.map(toDetail).map((detail) => [`${detail.path} ${detail.message}`, detail] as const),
  )
  return [...details.values()].slice(0, maxDetails)
}

const id = 'is 1 to 200 printable ASCII characters, without spaces'
/** The rules of patterns and formats. */
const messages: Readonly<Record<string, string>> = {
  '/eventId pattern': id,
  '/siteId pattern': id,
  '/spaceId pattern': id,
  '/url format': 'is an absolute http or https address',
  '/url pattern': 'is an absolute http or https address',
}

function toDetail(error: ErrorObject): { path: string; message: string } {
  const path = pointerOf(error)
  if (error.keyword === 'required') return { path, message: 'is missing' }
  if (error.keyword === 'additionalProperties') return { path, message: 'is not a field of this event' }
  return { path, message: messages[`${path} ${error.keyword}`] ?? describeError(error) }
}

function invalid(details: { path: string; message: string }[]): AnnexError {
  const list = details.map(({ path, message }) => `  ${path.slice(1) || 'event'}: ${message}`).join('\n')
  return new AnnexError('event_invalid', `The event was not stored:\n${list}`, { details })
}
