import type * as deliveries from '../../schemas/generated/api/deliveries.ts'
import type { PublishReceipt } from '../../schemas/generated/api/events.ts'
import type * as installations from '../../schemas/generated/api/installations.ts'
import type * as integrations from '../../schemas/generated/api/integrations.ts'
import type { JobWithPayload } from '../../schemas/generated/api/jobs.ts'
import type { LogLine } from '../../schemas/generated/api/logs.ts'
import type * as organizations from '../../schemas/generated/api/organizations.ts'
import type { Receipt } from '../../schemas/generated/api/receipts.ts'
import type { ReceiverWithCounts } from '../../schemas/generated/api/receivers.ts'
import type { Site } from '../../schemas/generated/api/sites.ts'
import type { Space } from '../../schemas/generated/api/spaces.ts'
import type { SettingsSchema } from '../manifest/settings/settings-schema.ts'

// The records of the API, as commands read them. `object` is read where a command takes records of two kinds.

export type { LogLine, PublishReceipt }

export type List<T> = { items: T[]; count: number; next?: { page: string } }

type WithSecret<T> = Omit<T, 'object'> & { signingSecret?: string }

export type Organization = Omit<organizations.Organization, 'object'>
export type SiteOrSpace = Site | Space
export type Integration = Omit<integrations.Integration, 'object' | 'configurations'> & {
  configurations: Partial<Record<'account' | 'site' | 'space', SettingsSchema>>
}
export type Installation = WithSecret<installations.Installation>
/** Lists leave out the settings. */
export type ListedInstallation = Omit<installations.ListedInstallation, 'object'>
export type TargetInstallation = WithSecret<
  installations.SiteInstallation | installations.SpaceInstallation
> & {
  site?: string
  space?: string
}
export type Delivery = Omit<deliveries.Delivery, 'object'>
export type Attempt = Omit<deliveries.Attempt, 'object' | 'id'>
export type DeliveryWithAttempts = Delivery & { body?: string; attemptList: Attempt[] }
export type HeaderPairs = deliveries.HeaderList
/** `pending` and `days` are only of a receiver that is read by its id. */
export type Receiver = Omit<ReceiverWithCounts, 'object' | 'pending' | 'days'> &
  Partial<Pick<ReceiverWithCounts, 'pending' | 'days'>>
/** `payload` is only of a job that is read by its id. */
export type Job = Omit<JobWithPayload, 'object' | 'payload'> & Partial<Pick<JobWithPayload, 'payload'>>
export type DispatchReceipt = Receipt
