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
  listUsage: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: {}
    query: ListUsageQuery
    body: undefined
    answer: UsageList
  }
}
