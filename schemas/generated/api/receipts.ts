// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { NextPage, Time } from './common.ts'

/**
 * The resources that one dispatch used.
 */
export interface Receipt {
  object: 'receipt'
  id: number
  request: string
  integration: string
  installation?: string
  /**
   * `fetch`, `task`, or the type of an event.
   */
  type: string
  /**
   * The id of its event.
   */
  event?: string
  /**
   * `ok`, `no_handler`, `script_error`, or the code of the error that ended the dispatch.
   */
  outcome: string
  status?: number
  startedAt: Time
  cpuMs: number
  /**
   * Until the answer.
   */
  wallMs: number
  /**
   * The largest heap that was seen.
   */
  heapBytes: number
  egressCalls: number
  /**
   * Both ways.
   */
  egressBytes: number
  /**
   * All calls to Annex: outbound requests, storage, deliveries, tasks.
   */
  hostCalls: number
  /**
   * Deliveries that it queued.
   */
  deliveries: number
  /**
   * Tasks that it queued.
   */
  tasks: number
}

/**
 * A receipt with the outbound requests of its dispatch.
 */
export type ReceiptWithRequests = Receipt & {
  /**
   * The first 50, and at most 8,000 characters. Those of a dispatch before this field was added are not known.
   */
  outboundRequests: OutboundRequest[]
  /**
   * How many followed.
   */
  outboundRequestsLeftOut: number
  /**
   * The id of the site of its event, while the event is kept.
   */
  site?: string
}

/**
 * A request that a script made. A redirect is a request of its own.
 */
export interface OutboundRequest {
  method: string
  /**
   * With the port, if the URL has one. Of a URL that is neither http nor https, its scheme alone.
   */
  host: string
  /**
   * Without the query. At most 200 characters. Secrets that Annex knows are written as `[secret NAME]`, and what may be a key is shortened.
   */
  path: string
  /**
   * It went to the API of Annex, and did not leave the host.
   */
  own: boolean
  startedAt: Time
  /**
   * Until the head of the answer, or the error. Missing when the dispatch ended before.
   */
  ms?: number
  /**
   * Of the answer.
   */
  status?: number
  /**
   * Of a request to the API of Annex, its id there.
   */
  request?: string
  /**
   * Why it was refused or failed.
   */
  error?: {
    code: string
    message: string
  }
}

/**
 * A page of receipts.
 */
export interface ReceiptList {
  items: Receipt[]
  next?: NextPage
  count: number
}

/**
 * Sums over dispatches.
 */
export interface Usage {
  object: 'usage'
  at: Time
  dispatches: number
  failed: number
  cpuMs: number
  wallMs: number
  egressCalls: number
  egressBytes: number
  hostCalls: number
  maxHeapBytes: number
}

/**
 * A page of sums.
 */
export interface UsageList {
  items: Usage[]
  next?: NextPage
  count: number
}

export interface ListReceiptsQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
  /**
   * Only of this integration, by its name.
   */
  integration?: string
  /**
   * Only of this installation, by its id.
   */
  installation?: string
  /**
   * Only of this request, by its id.
   */
  request?: string
  /**
   * Only of this event, by its id.
   */
  event?: string
  /**
   * Only of this type: `fetch`, `task`, or the type of an event.
   */
  type?: string
  /**
   * Only with this outcome. `failed`: all outcomes but `ok` and `no_handler`.
   */
  outcome?: string
  /**
   * Only from this time on.
   */
  since?: string
  /**
   * Only before this time.
   */
  until?: string
  /**
   * The id of a receipt: the first ones after it. Without it the newest.
   */
  after?: number
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface ListUsageQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
  /**
   * Only of this integration, by its name.
   */
  integration?: string
  /**
   * Only of this installation, by its id.
   */
  installation?: string
  /**
   * The span of a sum.
   */
  by: 'minute' | 'hour' | 'day'
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface ReceiptsOperations {
  listReceipts: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: {}
    query: ListReceiptsQuery
    body: undefined
    answer: ReceiptList
  }
  getReceipt: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { receipt: string }
    query: object
    body: undefined
    answer: ReceiptWithRequests
  }
  listUsage: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: {}
    query: ListUsageQuery
    body: undefined
    answer: UsageList
  }
}
