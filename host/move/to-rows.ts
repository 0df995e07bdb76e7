import { createCheck } from '../../schemas/create-check.ts'
import { withPrefix } from '../db/ids.ts'
import type { MovedRow } from '../db/queries/moved/import-rows.ts'
import { toStorable } from '../db/rows/storable-text.ts'
import { AnnexError } from '../errors/annex-error.ts'
import type { EventJob } from '../installations/setup-event.ts'
import { isHttp } from '../webhooks/delivery-call.ts'
import { subjectSchemas } from './record-schemas.ts'
import type { DeliveryRecord, EndpointRecord, EventRecord, JobRecord } from './records.ts'
import type { Importing } from './to-level-rows.ts'

const deliverySubject = createCheck<{ id: string }>(subjectSchemas.delivery)
const scriptSubject = createCheck<EventJob>(subjectSchemas.script)

export function toEndpointRows(
  { installationId, endpoints }: Importing,
  record: EndpointRecord,
  line: number,
): { endpoint: MovedRow<'endpoints'>; days: MovedRow<'deliveryCounts'>[] } {
  const { record: _, days, ...columns } = record
  if (!isHttp(record.url)) {
    throw new AnnexError('export_invalid', `Line ${line} (endpoint): url is not an http or https URL.`)
  }
  endpoints.set(record.id, record)
  return {
    endpoint: { installationId, ...columns, reason: toReadable(columns.reason) },
    days: days.map((day) => ({ endpointId: record.id, ...day })),
  }
}

export function toEventRow({ organizationId }: Importing, record: EventRecord): MovedRow<'events'> {
  const { id, type, payload, receivedAt } = record
  return { organizationId, id, type, payload: JSON.stringify(payload), receivedAt }
}

/** An endpoint of another installation would send under its name: only those of the file are taken. */
export function toDeliveryRows(
  { installationId, endpoints }: Importing,
  { record: _, attemptList, body, ...columns }: DeliveryRecord,
  line: number,
): { body: MovedRow<'bodies'>; delivery: MovedRow<'deliveries'>; attempts: MovedRow<'attempts'>[] } {
  const endpoint = endpoints.get(columns.endpointId)
  if (endpoint === undefined) throw strangerError(line, `an endpoint ${columns.endpointId}`)
  const { signedBy, url } = endpoint
  const attempts = attemptList.map(({ requestHeaders, responseHeaders, timing, ...attempt }) => ({
    ...attempt,
    deliveryId: columns.id,
    errorMessage: toReadable(attempt.errorMessage),
    responseBody: toReadable(attempt.responseBody),
    requestHeaders: JSON.stringify(requestHeaders),
    responseHeaders: toText(responseHeaders),
    timing: toText(timing),
  }))
  const bodyId = withPrefix(columns.id, 'body')
  return {
    body: { id: bodyId, body },
    delivery: { installationId, signedBy, url, bodyId, ...columns, reason: reasonOf(columns) },
    attempts,
  }
}

/** Those that have failed are found by it. */
const reasonOf = ({ state, reason }: Pick<DeliveryRecord, 'state' | 'reason'>): string | null =>
  state === 'failed' ? toStorable(reason ?? 'No reason was exported.') : toReadable(reason)

/** What is owed waits until the installation is resumed. */
export function toJobRow(importing: Importing, record: JobRecord, line: number): MovedRow<'jobs'> {
  const { record: _, subject, state, ...columns } = record
  assertOwn(importing, record, line)
  return {
    ...columns,
    lastError: toReadable(columns.lastError),
    subject: JSON.stringify(subject),
    state: state === 'owed' ? 'waiting' : 'failed',
  }
}

/** A job names whom it is done for: nobody but the installation of the file. */
function assertOwn(importing: Importing, { id, kind, subject, lane, state }: JobRecord, line: number): void {
  const { installationId, integration, endpoints } = importing
  if (kind === 'delivery') {
    // A delivery has one job, which is found by its id.
    if (!deliverySubject()(subject) || withPrefix(subject.id, 'job') !== id) throw subjectError(line)
    if (!endpoints.has(lane)) throw strangerError(line, `an endpoint ${lane}`)
    if (state === 'owed') return
    throw new AnnexError(
      'export_invalid',
      `Line ${line} (job) has failed, which is said of its delivery alone.`,
    )
  }
  if (!scriptSubject()(subject)) throw subjectError(line)
  const { level } = subject
  const isOwn =
    'installationId' in level &&
    level.installationId === installationId &&
    level.integration === integration &&
    (level.kind === 'installation') === !('targetId' in level)
  if (!isOwn || lane !== installationId) throw strangerError(line, 'an installation')
}

/** SQLite may have kept a reason that PostgreSQL would not. */
const toReadable = (text: string | null): string | null => (text === null ? null : toStorable(text))

const toText = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))

const subjectError = (line: number): AnnexError =>
  new AnnexError('export_invalid', `Line ${line} (job): subject is not as an export has it.`)

export const strangerError = (line: number, what: string): AnnexError =>
  new AnnexError('export_invalid', `Line ${line} is about ${what} that the file does not have.`)
