import { maxDeliveryBytes } from '../config/event-sizes.ts'
import { shortNamePattern } from '../config/short-name.ts'
import type { ExportRecord } from './records.ts'

const idOf = (prefix: string) => ({ type: 'string', pattern: `^${prefix}_[0-9a-f-]{36}$` })
const text = (maxLength: number) => ({ type: 'string', maxLength })
const orNull = (schema: { type: string }) => ({ ...schema, type: [schema.type, 'null'] })
const ms = { type: 'integer', minimum: 0, maximum: 8.64e15 }
const count = { type: 'integer', minimum: 0, maximum: 1_000_000_000 }
const sum = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
const slug = { type: 'string', pattern: shortNamePattern, maxLength: 80 }
const title = { type: 'string', minLength: 1, maxLength: 200 }
const kind = { enum: ['site', 'space'] }
const placeId = { type: 'string', pattern: '^(site|space)_[0-9a-f-]{36}$' }
const eventId = { type: 'string', pattern: '^[!-~]{1,200}$' }
const eventType = text(100)
/** A receiver's are kept as far as 4 KiB of names and values go, and a name has a character at least. */
const headers = {
  anyOf: [
    {
      type: 'array',
      maxItems: 5_000,
      items: { type: 'array', minItems: 2, maxItems: 2, items: { type: 'string' } },
    },
    { type: 'object', maxProperties: 5_000, additionalProperties: { type: 'string' } },
    { type: 'null' },
  ],
}

/** All of the fields are required, and no other is taken. */
const allOf = (properties: Record<string, object>) => ({
  type: 'object',
  required: Object.keys(properties),
  additionalProperties: false,
  properties,
})

const levelFields = {
  externalIds: { type: 'array', maxItems: 50, items: text(500) },
  sealed: { type: 'string' },
  previousSecretUntil: orNull(ms),
  firstSecret: { enum: ['new', 'old', null] },
  createdAt: ms,
  updatedAt: ms,
}

const attempt = allOf({
  id: idOf('att'),
  number: { type: 'integer', minimum: 1, maximum: 1_000_000 },
  startedAt: ms,
  durationMs: count,
  outcome: { enum: ['delivered', 'rejected', 'error', 'interrupted'] },
  status: { type: ['integer', 'null'], minimum: 100, maximum: 999 },
  requestHeaders: headers,
  responseHeaders: headers,
  responseBody: orNull(text(20_000)),
  errorCode: orNull(text(200)),
  errorMessage: orNull(text(10_000)),
  timing: {
    type: ['object', 'null'],
    maxProperties: 20,
    additionalProperties: { type: ['number', 'boolean'] },
  },
})

/** The level that a script's job is for; `idOf` of the file's installation is compared apart. */
const level = {
  type: 'object',
  required: ['kind', 'integration', 'installationId'],
  additionalProperties: false,
  properties: {
    kind: { enum: ['installation', 'site', 'space'] },
    integration: { type: 'string' },
    installationId: { type: 'string' },
    targetId: placeId,
  },
}

const job = {
  id: idOf('job'),
  kind: { enum: ['event', 'task', 'delivery'] },
  subject: { type: 'object' },
  lane: { type: 'string', pattern: '^(inst|ep)_[0-9a-f-]{36}$' },
  state: { enum: ['owed', 'failed'] },
  attempt: count,
  interruptions: count,
  dueAt: ms,
  lastError: orNull(text(100_000)),
  createdAt: ms,
  finishedAt: orNull(ms),
  ordered: { type: 'boolean' },
  position: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
}

/** JSON Schema of what a job is about, by whether it is a delivery. */
export const subjectSchemas = {
  delivery: allOf({ id: idOf('dlv') }),
  script: allOf({
    level,
    event: {
      type: 'object',
      required: ['type', 'eventId'],
      properties: { type: eventType, eventId },
    },
  }),
}

/** JSON Schema of what is sealed. */
export const sealedSchema = allOf({
  configuration: { type: 'object', maxProperties: 1_000 },
  signingSecret: { type: 'string' },
  previousSigningSecret: { type: ['string', 'null'] },
})

/** The fields of each kind of line beside `record`. Whoever wrote a file, its lines are checked one by one. */
const fields: Record<ExportRecord['record'], Record<string, object>> = {
  header: {
    format: { type: 'integer' },
    annex: text(100),
    schema: text(100),
    salt: { type: 'string', pattern: '^[A-Za-z0-9+/]{22}==$' },
    check: text(1_000),
  },
  // The operator's may have any: it comes from a setting.
  organization: { id: idOf('org'), subdomain: { ...text(200), minLength: 1 }, title },
  place: { kind, id: placeId, slug, title },
  integration: { name: text(200), digest: orNull(text(200)) },
  installation: { id: idOf('inst'), resumesTo: { enum: ['pending', 'active'] }, ...levelFields },
  target: { kind, targetId: placeId, status: { enum: ['pending', 'active', 'paused'] }, ...levelFields },
  endpoint: {
    id: idOf('ep'),
    signedBy: { type: 'string', pattern: '^(installation|(site|space):(site|space)_[0-9a-f-]{36})$' },
    url: text(2048),
    state: { enum: ['active', 'paused', 'disabled'] },
    reason: orNull(text(10_000)),
    failingSince: orNull(ms),
    ordered: { type: 'boolean' },
    createdAt: ms,
    updatedAt: ms,
    days: {
      type: 'array',
      maxItems: 40_000,
      items: allOf({ day: ms, delivered: sum, failed: sum, attempts: sum }),
    },
  },
  event: { id: eventId, type: eventType, payload: { type: 'object' }, receivedAt: ms },
  delivery: {
    id: idOf('dlv'),
    endpointId: idOf('ep'),
    eventId,
    eventType,
    body: text(maxDeliveryBytes),
    hops: count,
    state: { enum: ['owed', 'delivered', 'failed'] },
    reason: orNull(text(100_000)),
    createdAt: ms,
    finishedAt: orNull(ms),
    attempts: count,
    attemptList: { type: 'array', maxItems: 10_000, items: attempt },
  },
  job,
  end: {
    counts: { type: 'object', maxProperties: 20, additionalProperties: count },
    hmac: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  },
}

export const recordSchemas: Record<string, object> = Object.fromEntries(
  Object.entries(fields).map(([record, more]) => [record, allOf({ record: { const: record }, ...more })]),
)
