import type { InstallationStatus } from '../../schemas/generated/installation-status.ts'
import type { Skipped } from '../events/match-installations.ts'
import type { SettingsSchema } from '../manifest/settings/settings-schema.ts'

// The answers of the API, as far as commands read them.

export type List<T> = { items: T[]; count: number; next?: { before?: string; after?: string } }

export type Organization = { id: string; subdomain: string; title: string }

export type SiteOrSpace = {
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

type Installed = {
  status: InstallationStatus
  configuration: Record<string, unknown>
  /** Whether each button of the settings is connected. */
  connections?: Record<string, boolean>
  /** Missing and invalid settings: the level is pending until they are set. */
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

/** The answer to a published event. */
export type PublishReceipt = {
  eventId: string
  duplicate: boolean
  installations: number
  waiting?: string[]
  skipped?: Skipped[]
}

export type Delivery = {
  id: string
  state: 'pending' | 'delivered' | 'failed'
  reason?: string
  event: { id: string; type: string }
  installation: string
  receiver: string
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

/** A URL that deliveries go to. */
export type Receiver = {
  id: string
  state: 'active' | 'paused' | 'disabled'
  reason?: string
  installation: string
  signedBy: string
  url: string
  ordered: boolean
  failingSince?: string
  heldBackUntil?: string
  createdAt: string
  updatedAt: string
  /** Only of a receiver that is read by its id. */
  pending?: { due: number; waiting: number }
  days?: { day: string; delivered: number; failed: number; attempts: number }[]
}

export type HeaderPairs = [string, string][]

export type DeliveryWithAttempts = Delivery & { body: string; attemptList: Attempt[] }

/** An event or task for a script. */
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
  /** Only of a job that is read by its id. */
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

/** The resources that one dispatch used. */
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
