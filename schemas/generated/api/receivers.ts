// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { NextPage, Time } from './common.ts'
import type { Delivery } from './deliveries.ts'

/**
 * A URL that deliveries go to.
 */
export interface Receiver {
  object: 'receiver'
  id: string
  state: 'active' | 'paused' | 'disabled'
  /**
   * Why it is paused or disabled.
   */
  reason?: string
  installation: string
  signedBy: string
  url: string
  ordered: boolean
  failingSince?: Time
  heldBackUntil?: Time
  createdAt: Time
  updatedAt: Time
}

/**
 * A page of receivers.
 */
export interface ReceiverList {
  items: Receiver[]
  next?: NextPage
  count: number
}

/**
 * A receiver with its counts.
 */
export type ReceiverWithCounts = Receiver & {
  /**
   * Deliveries that are due, and those that wait for a resume.
   */
  pending: {
    due: number
    waiting: number
    oldestAt?: Time
  }
  days: DayCounts[]
}

/**
 * Results of a day.
 */
export interface DayCounts {
  day: string
  delivered: number
  failed: number
  attempts: number
}

/**
 * What to change.
 */
export interface ReceiverEdit {
  ordered?: boolean
}

/**
 * Why it is paused.
 */
export interface PauseReason {
  reason?: string
}

/**
 * The type of the example. Default: `space_content_updated` to a space's receiver, else `site_view`.
 */
export interface ExampleType {
  type?: 'space_content_updated' | 'site_view' | 'page_feedback'
}

export interface ListReceiversQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
  /**
   * Only of this installation, by its id.
   */
  installation?: string
  /**
   * Only in this state.
   */
  state?: 'active' | 'paused' | 'disabled'
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface ReceiversOperations {
  listReceivers: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: {}
    query: ListReceiversQuery
    body: undefined
    answer: ReceiverList
  }
  getReceiver: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { receiver: string }
    query: object
    body: undefined
    answer: ReceiverWithCounts
  }
  updateReceiver: {
    roles: 'editor' | 'admin' | 'operator'
    params: { receiver: string }
    query: object
    body: ReceiverEdit
    answer: ReceiverWithCounts
  }
  pauseReceiver: {
    roles: 'editor' | 'admin' | 'operator'
    params: { receiver: string }
    query: object
    body: PauseReason
    answer: ReceiverWithCounts
  }
  resumeReceiver: {
    roles: 'editor' | 'admin' | 'operator'
    params: { receiver: string }
    query: object
    body: undefined
    answer: ReceiverWithCounts
  }
  sendExampleEvent: {
    roles: 'editor' | 'admin' | 'operator'
    params: { receiver: string }
    query: object
    body: ExampleType
    answer: Delivery
  }
}
