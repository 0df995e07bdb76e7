import type { SecretBox } from '../access/secret-box.ts'
import type { AttemptRow } from '../db/queries/attempts.ts'
import type { EventRow } from '../db/queries/events.ts'
import type { InstallationTarget } from '../db/queries/installed/installation-targets.ts'
import type { Installation, Signer } from '../db/queries/installed/installations.ts'
import type { DeliveryWithAttempts, EndpointWithDays, JobRow } from '../db/queries/moved/export-pages.ts'
import { AnnexError } from '../errors/annex-error.ts'
import type {
  AttemptRecord,
  DeliveryRecord,
  EndpointRecord,
  EventRecord,
  InstallationRecord,
  JobRecord,
  SealedPart,
  TargetRecord,
} from './records.ts'

/** From the box of this Annex into that of the passphrase. */
export type Resealing = { box: Pick<SecretBox, 'open'>; sealing: Pick<SecretBox, 'seal'> }

type LevelRow = Signer & Pick<Installation, 'configuration' | 'externalIds' | 'createdAt' | 'updatedAt'>

function toLevelFields(row: LevelRow, { box, sealing }: Resealing) {
  const { externalIds, previousSecretUntil, firstSecret, createdAt, updatedAt } = row
  const part: SealedPart = {
    configuration: row.configuration,
    signingSecret: box.open(row.signingSecret),
    previousSigningSecret: row.previousSigningSecret === null ? null : box.open(row.previousSigningSecret),
  }
  const sealed = sealing.seal(JSON.stringify(part))
  return { externalIds, sealed, previousSecretUntil, firstSecret, createdAt, updatedAt }
}

export function toInstallationRecord(row: Installation, resealing: Resealing): InstallationRecord {
  const resumesTo = row.suspendedFrom === 'pending' ? 'pending' : 'active'
  return { record: 'installation', id: row.id, resumesTo, ...toLevelFields(row, resealing) }
}

export function toTargetRecord(row: InstallationTarget, resealing: Resealing): TargetRecord {
  const { kind, targetId, status } = row
  return { record: 'target', kind, targetId, status, ...toLevelFields(row, resealing) }
}

export function toEndpointRecord(row: EndpointWithDays): EndpointRecord {
  const { id, signedBy, url, state, reason, failingSince, createdAt, updatedAt } = row
  const ordered = Boolean(row.ordered)
  const days = row.days.map(({ day, delivered, failed, attempts }) => ({ day, delivered, failed, attempts }))
  return {
    ...{ record: 'endpoint', id, signedBy, url, state, reason, failingSince, ordered },
    ...{ createdAt, updatedAt, days },
  }
}

export function toEventRecord(row: Omit<EventRow, 'organizationId'>): EventRecord {
  const { id, type, payload, receivedAt } = row
  return { record: 'event', id, type, payload: JSON.parse(payload), receivedAt }
}

export function toDeliveryRecord(row: DeliveryWithAttempts): DeliveryRecord {
  const { id, endpointId, eventId, eventType, body, hops, state, reason, attempts } = row
  const { createdAt, finishedAt } = row
  return {
    ...{ record: 'delivery', id, endpointId, eventId, eventType, body, hops, state, reason, attempts },
    ...{ createdAt, finishedAt },
    attemptList: row.attemptRows.map(toAttemptRecord),
  }
}

function toAttemptRecord(row: AttemptRow): AttemptRecord {
  const { id, number, startedAt, durationMs, outcome, status, responseBody, errorCode, errorMessage } = row
  return {
    ...{ id, number, startedAt, durationMs, outcome, status, responseBody, errorCode, errorMessage },
    requestHeaders: JSON.parse(row.requestHeaders),
    responseHeaders: parse(row.responseHeaders),
    timing: parse(row.timing),
  }
}

const parse = (text: string | null): unknown => (text === null ? null : JSON.parse(text))

export function toJobRecord(row: JobRow): JobRecord {
  const { id, kind, lane, attempt, interruptions, dueAt, lastError, createdAt, finishedAt, position } = row
  if (row.state !== 'waiting' && row.state !== 'failed') {
    throw new AnnexError('conflict', `The job ${id} is ${row.state}: it was resumed. Export it again.`)
  }
  return {
    ...{ record: 'job', id, kind, lane, attempt, interruptions, dueAt, lastError, createdAt, finishedAt },
    subject: JSON.parse(row.subject),
    state: row.state === 'failed' ? 'failed' : 'owed',
    ordered: Boolean(row.ordered),
    // Of a driver that gives large numbers as text.
    position: Number(position),
  }
}
