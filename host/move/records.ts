import type { AttemptRow } from '../db/queries/attempts.ts'
import type { DeliveryState } from '../db/queries/deliveries.ts'
import type { EndpointState } from '../db/queries/endpoints.ts'
import type { TargetKind } from '../db/queries/installed/installation-targets.ts'
import type { InstallationStatus } from '../db/queries/installed/installations.ts'
import type { DayCounts } from '../db/queries/operating/counts.ts'

/** Grows when an older Annex would misread what a newer one writes. */
export const formatVersion = 1

/** The first line. `salt` makes a key of the passphrase; `check` can be opened with it. */
export type HeaderRecord = {
  record: 'header'
  format: number
  annex: string
  schema: string
  salt: string
  check: string
}

export type OrganizationRecord = { record: 'organization'; id: string; subdomain: string; title: string }

/** A site or a space that it is installed in. Of a space not its folder: that is one of the other machine. */
export type PlaceRecord = { record: 'place'; kind: TargetKind; id: string; slug: string; title: string }

/** What ran, `null` when no version was deployed. */
export type IntegrationRecord = { record: 'integration'; name: string; digest: string | null }

/** What only the passphrase opens: secrets, and settings, in which scripts keep credentials. */
export type SealedPart = {
  configuration: Record<string, unknown>
  signingSecret: string
  previousSigningSecret: string | null
}

type LevelFields = {
  externalIds: string[]
  /** JSON text of a `SealedPart`, sealed. */
  sealed: string
  previousSecretUntil: number | null
  firstSecret: 'new' | 'old' | null
  createdAt: number
  updatedAt: number
}

export type InstallationRecord = LevelFields & {
  record: 'installation'
  id: string
  /** The status that a resume gives it. */
  resumesTo: 'pending' | 'active'
}

export type TargetRecord = LevelFields & {
  record: 'target'
  kind: TargetKind
  targetId: string
  status: InstallationStatus
}

export type EndpointRecord = {
  record: 'endpoint'
  id: string
  signedBy: string
  url: string
  state: EndpointState
  reason: string | null
  failingSince: number | null
  ordered: boolean
  createdAt: number
  updatedAt: number
  /** What became of its deliveries, day by day: those that are not kept any more are in it, too. */
  days: Omit<DayCounts, 'endpointId'>[]
}

export type EventRecord = {
  record: 'event'
  id: string
  type: string
  payload: Record<string, unknown>
  receivedAt: number
}

export type AttemptRecord = Omit<
  AttemptRow,
  'deliveryId' | 'requestHeaders' | 'responseHeaders' | 'timing'
> & { requestHeaders: unknown; responseHeaders: unknown; timing: unknown }

export type DeliveryRecord = {
  record: 'delivery'
  id: string
  endpointId: string
  eventId: string
  eventType: string
  /** Byte for byte what is signed. */
  body: string
  hops: number
  state: DeliveryState
  reason: string | null
  createdAt: number
  finishedAt: number | null
  /** How many there were; some may not be kept any more. */
  attempts: number
  attemptList: AttemptRecord[]
}

/** What is owed, or was given up. */
export type JobRecord = {
  record: 'job'
  id: string
  kind: 'event' | 'task' | 'delivery'
  /** Of a delivery its id, of the others the level and the event: see `EventJob`. */
  subject: Record<string, unknown>
  /** Whose turn it takes: the installation's, or an endpoint's. */
  lane: string
  state: 'owed' | 'failed'
  attempt: number
  /** How often something other than the job itself has ended its run. */
  interruptions: number
  dueAt: number
  lastError: string | null
  createdAt: number
  finishedAt: number | null
  ordered: boolean
  position: number
}

/** The last line: how many there were of each, and an HMAC-SHA-256, in hex, over the bytes of all lines before it. */
export type EndRecord = { record: 'end'; counts: Record<string, number>; hmac: string }

/** What stands between the first line and the last, in this order. */
export type MovedRecord =
  | OrganizationRecord
  | PlaceRecord
  | IntegrationRecord
  | InstallationRecord
  | TargetRecord
  | EndpointRecord
  | EventRecord
  | DeliveryRecord
  | JobRecord

export type ExportRecord = HeaderRecord | MovedRecord | EndRecord

export const recordOrder: readonly ExportRecord['record'][] = [
  ...(['header', 'organization', 'place', 'integration', 'installation', 'target'] as const),
  ...(['endpoint', 'event', 'delivery', 'job', 'end'] as const),
]

/** Of these there is one each. */
export const singleRecords: ReadonlySet<string> = new Set([
  ...['header', 'organization', 'integration', 'installation', 'end'],
])
