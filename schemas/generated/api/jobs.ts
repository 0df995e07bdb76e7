// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { NextPage, Time } from './common.ts'

/**
 * An event or task for a script.
 */
export interface Job {
  object: 'job'
  id: string
  kind: 'event' | 'task'
  state: 'failed' | 'due' | 'running' | 'waiting'
  integration: string
  installation?: string
  /**
   * Its site or space.
   */
  target?: {
    site?: string
    space?: string
  }
  /**
   * Its event.
   */
  event: {
    id: string
    type: string
  }
  attempts: number
  nextAttemptAt?: Time
  /**
   * Why the last attempt failed.
   */
  error?: {
    message: string
    /**
     * The log has more under this id.
     */
    request?: string
  }
  createdAt: Time
  finishedAt?: Time
}

/**
 * A page of jobs.
 */
export interface JobList {
  items: Job[]
  next?: NextPage
  count: number
  /**
   * Days for which failed jobs are kept. Absent: for ever.
   */
  retentionDays?: number
}

/**
 * A job with its payload.
 */
export type JobWithPayload = Job & {
  payload: {
    [k: string]: unknown
  }
}

export interface ListJobsQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
  /**
   * Only in this state.
   */
  state: 'failed' | 'due' | 'running' | 'waiting'
  /**
   * Only of this kind.
   */
  kind?: 'event' | 'task'
  /**
   * Only of this installation, by its id.
   */
  installation?: string
  /**
   * Only of this event, by its id.
   */
  event?: string
  /**
   * Only from this time on.
   */
  since?: string
  /**
   * Only before this time.
   */
  until?: string
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface JobsOperations {
  listJobs: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: {}
    query: ListJobsQuery
    body: undefined
    answer: JobList
  }
  getJob: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { job: string }
    query: object
    body: undefined
    answer: JobWithPayload
  }
  discardJob: {
    roles: 'editor' | 'admin' | 'operator'
    params: { job: string }
    query: object
    body: undefined
    answer: void
  }
  runJob: {
    roles: 'editor' | 'admin' | 'operator'
    params: { job: string }
    query: object
    body: undefined
    answer: Job
  }
}
