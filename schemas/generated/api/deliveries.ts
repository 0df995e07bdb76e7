// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { NextPage, Time } from './common.ts'

/**
 * An event for one receiver.
 */
export interface Delivery {
  object: 'delivery'
  id: string
  /**
   * The id of the request or run whose dispatch made it: see `GET /v1/receipts`.
   */
  request?: string
  state: 'pending' | 'delivered' | 'failed'
  /**
   * Why it failed without an attempt.
   */
  reason?: string
  /**
   * Its event.
   */
  event: {
    id: string
    type: string
  }
  installation: string
  receiver: string
  /**
   * The level whose secret signs: `installation`, `site:ID` or `space:ID`.
   */
  signedBy: string
  url: string
  attempts: number
  createdAt: Time
  nextAttemptAt?: Time
  finishedAt?: Time
}

/**
 * A page of deliveries.
 */
export interface DeliveryList {
  items: Delivery[]
  next?: NextPage
  count: number
  /**
   * Days for which settled deliveries are kept. Absent: for ever.
   */
  retentionDays?: number
}

/**
 * A delivery with its body and attempts.
 */
export type DeliveryWithAttempts = Delivery & {
  /**
   * The body that is sent. It is not there once it was pruned.
   */
  body?: string
  attemptList: Attempt[]
}

/**
 * One try at a delivery.
 */
export interface Attempt {
  object: 'attempt'
  id: string
  number: number
  outcome: 'delivered' | 'rejected' | 'error' | 'interrupted'
  startedAt: Time
  durationMs: number
  /**
   * Milliseconds of the phases that it reached. `reused`: over a connection that was open.
   */
  timing?: {
    reused?: boolean
    dnsMs?: number
    connectMs?: number
    tlsMs?: number
    firstByteMs?: number
  }
  /**
   * What was sent.
   */
  request: {
    headers: HeaderList
  }
  /**
   * What the receiver answered.
   */
  response?: {
    status: number
    headers: HeaderList
    /**
     * The first 4 KiB.
     */
    body: string
  }
  /**
   * Why it failed.
   */
  error?: {
    code: string
    message: string
  }
}

/**
 * Names and values in their order.
 */
export type HeaderList = string[][]

/**
 * Which failed deliveries to send again.
 */
export interface FailedToSend {
  /**
   * A time: those that failed from then on.
   */
  since: string
  /**
   * A time: only those created before it.
   */
  until?: string
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
  receiver?: string
  installation?: string
  eventType?: string
  /**
   * Default: 10.
   */
  perSecond?: number
  /**
   * Counts alone.
   */
  dryRun?: boolean
}

/**
 * What is sent again.
 */
export interface SentFailed {
  dryRun: boolean
  count: number
  /**
   * Left out, as their receiver is disabled.
   */
  disabled: number
  /**
   * For the next request.
   */
  left?: number
  /**
   * From the first to the last.
   */
  seconds?: number
}

export interface ListDeliveriesQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
  /**
   * Only of this installation, by its id.
   */
  installation?: string
  /**
   * Only to this receiver, by its id.
   */
  receiver?: string
  /**
   * Only of this event, by its id.
   */
  event?: string
  /**
   * Only of events of this type.
   */
  eventType?: string
  /**
   * Only those that the dispatch of this request made, by its id.
   */
  request?: string
  /**
   * Only in this state.
   */
  state?: 'pending' | 'delivered' | 'failed'
  /**
   * Created before this time.
   */
  before?: string
  /**
   * Created after this time.
   */
  after?: string
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface FollowDeliveriesQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
  /**
   * Only of this installation, by its id.
   */
  installation?: string
  /**
   * Only to this receiver, by its id.
   */
  receiver?: string
  /**
   * Only of this event, by its id.
   */
  event?: string
  /**
   * Only of events of this type.
   */
  eventType?: string
  /**
   * Only in this state.
   */
  state?: 'pending' | 'delivered' | 'failed'
  /**
   * From this time on.
   */
  after?: string
}

export interface DeliveriesOperations {
  listDeliveries: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: {}
    query: ListDeliveriesQuery
    body: undefined
    answer: DeliveryList
  }
  followDeliveries: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: {}
    query: FollowDeliveriesQuery
    body: undefined
    answer: void
  }
  sendFailedDeliveries: {
    roles: 'editor' | 'admin' | 'operator'
    params: {}
    query: object
    body: FailedToSend
    answer: SentFailed
  }
  getDelivery: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { delivery: string }
    query: object
    body: undefined
    answer: DeliveryWithAttempts
  }
  sendDelivery: {
    roles: 'editor' | 'admin' | 'operator'
    params: { delivery: string }
    query: object
    body: undefined
    answer: Delivery
  }
}
