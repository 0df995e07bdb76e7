// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { Time } from './common.ts'

/**
 * Counts by time.
 */
export interface Activity {
  object: 'activity'
  /**
   * Null: all of Annex.
   */
  organization: string | null
  from: Time
  /**
   * The time of one point.
   */
  stepSeconds: number
  points: ActivityPoint[]
}

/**
 * The counts of one step.
 */
export interface ActivityPoint {
  at: Time
  /**
   * Requests that went to scripts.
   */
  requests: number
  /**
   * Those without an answer, or with 500 and above.
   */
  failedRequests: number
  requestMs: Quantiles
  delivered: number
  /**
   * Deliveries that failed for good.
   */
  failed: number
  attempts: number
  attemptMs: Quantiles
  /**
   * CPU time of scripts.
   */
  cpuMs: number
  /**
   * The most that the sandbox processes of a host had. 0 of an organization.
   */
  memoryBytes: number
  /**
   * The most jobs that were pending at once, read once a minute. Of an organization: those of its installations.
   */
  backlog: number
  /**
   * The largest age of the oldest pending job.
   */
  oldestSeconds: number
}

/**
 * Times in ms, at most 1.41 times too long. Without a request or attempt there are none.
 */
export interface Quantiles {
  p50?: number
  p99?: number
}

export interface GetActivityQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
  /**
   * How far back.
   */
  span: 'hour' | 'day' | 'week'
}

export interface ActivityOperations {
  getActivity: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: {}
    query: GetActivityQuery
    body: undefined
    answer: Activity
  }
}
