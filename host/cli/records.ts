import type { InstallationStatus } from '../../schemas/generated/installation-status.ts'
import type { SettingsSchema } from '../manifest/settings/settings-schema.ts'

/** What the API answers, as far as the commands read it. */

export type List<T> = { items: T[]; count: number; next?: { before?: string; after?: string } }

export type Organization = { id: string; subdomain: string; title: string }

export type Place = {
  object: 'site' | 'space'
  id: string
  slug: string
  title: string
  revision?: string | null
}

export type Integration = {
  name: string
  title: string
  visibility: string
  scopes: string[]
  version: { number: number; digest: string } | null
  configurations: Partial<Record<'account' | 'site' | 'space', SettingsSchema>>
  urls: { publicEndpoint: string }
  installKey?: string
  suspension?: { reason: string; since: string }
}

export type Status = InstallationStatus

type Installed = {
  status: Status
  configuration: Record<string, unknown>
  /** For each button of the settings whether it is connected. */
  connections?: Record<string, boolean>
  /** What the settings lack, or what of them does not fit: the level is pending until it is mended. */
  problems?: { path: string; message: string }[]
  urls: { publicEndpoint: string }
}

export type Installation = Installed & {
  id: string
  integration: string
  statusReason?: string
  suspendedAt?: string
  target: { organization: string }
  signingSecret?: string
}

/** A site or space installation. */
export type TargetInstallation = Installed & {
  installation: string
  site?: string
  space?: string
  signingSecret?: string
}

export type Receipt = {
  eventId: string
  duplicate: boolean
  installations: number
  waiting?: string[]
  skipped?: Skipped[]
}

export type Skipped = { installation: string; integration: string; reason: string; message: string }

export type Delivery = {
  id: string
  state: 'owed' | 'delivered' | 'failed'
  reason?: string
  event: { id: string; type: string }
  installation: string
  endpoint: string
  signedBy: string
  url: string
  attempts: number
  createdAt: string
  nextAttemptAt?: string
  finishedAt?: string
}

export type Attempt = {
  number: number
  outcome: 'delivered' | 'rejected' | 'error' | 'interrupted'
  startedAt: string
  durationMs: number
  timing?: { dnsMs?: number; connectMs?: number; tlsMs?: number; firstByteMs?: number }
  request: { headers: HeaderPairs }
  response?: { status: number; headers: HeaderPairs; body: string }
  error?: { code: string; message: string }
}

/** Where an installation's deliveries go. */
export type Endpoint = {
  id: string
  state: 'active' | 'paused' | 'disabled'
  reason?: string
  installation: string
  signedBy: string
  url: string
  ordered: boolean
  failingSince?: string
  leftAloneUntil?: string
  createdAt: string
  updatedAt: string
  /** Of one that is looked at by itself. */
  owed?: { due: number; waiting: number }
  days?: { day: string; delivered: number; failed: number; attempts: number }[]
}

/** Failed deliveries that are sent again together. */
export type Resend = {
  id: string
  state: 'running' | 'done' | 'stopped'
  since: string
  until?: string
  endpoint?: string
  installation?: string
  eventType?: string
  perSecond: number
  count: number
  sent: number
  createdAt: string
  finishedAt?: string
}

export type HeaderPairs = [string, string][] | Record<string, string>

export type DeliveryWithAttempts = Delivery & { body: string; attemptList: Attempt[] }

/** An event or a task that a script is owed. */
export type Job = {
  id: string
  kind: 'event' | 'task'
  state: 'due' | 'running' | 'waiting' | 'failed'
  integration: string
  installation?: string
  event: { id: string; type: string }
  attempts: number
  nextAttemptAt?: string
  error?: { message: string; request?: string }
  createdAt: string
  finishedAt?: string
  /** Of one that is looked at by itself. */
  payload?: object
}

export type LogLine = {
  id: number
  at: string
  level: string
  integration: string
  installation?: string
  request?: string
  text: string
}

/** What one dispatch has used. */
export type DispatchReceipt = {
  object: 'receipt'
  id: number
  request: string
  integration: string
  installation?: string
  type: string
  event?: string
  outcome: string
  status?: number
  startedAt: string
  cpuMs: number
  wallMs: number
  heapBytes: number
  egressCalls: number
  egressBytes: number
  hostCalls: number
}
