// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { Time } from './common.ts'

/**
 * One thing that does not work.
 */
export interface Problem {
  object: 'problem'
  kind:
    | 'suspended'
    | 'receiver'
    | 'connection'
    | 'failed_work'
    | 'late_work'
    | 'secret'
    | 'folder'
    | 'disk'
    | 'public_url'
    | 'waiting_version'
    | 'pending'
  /**
   * Null: of the host.
   */
  organization: string | null
  /**
   * Subdomain of the organization. Null: of the host.
   */
  organizationSubdomain: string | null
  subject: ProblemSubject
  sentence: string
  since: Time
  /**
   * What to do, mostly a command.
   */
  fix: string
}

/**
 * The record that does not work.
 */
export interface ProblemSubject {
  kind: string
  id: string
}

/**
 * Problems.
 */
export interface ProblemList {
  items: Problem[]
  count: number
}

export interface ProblemsOperations {
  listProblems: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: {}
    query: object
    body: undefined
    answer: ProblemList
  }
}
