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
  fix: ProblemFix
}

/**
 * The record that does not work.
 */
export interface ProblemSubject {
  kind: string
  id: string
}

/**
 * What mends the problem.
 */
export interface ProblemFix {
  text: string
  /**
   * The command line for it. Null: no command mends it.
   */
  command: string | null
  /**
   * The operation that mends it without a further answer of a person. Null: there is none.
   */
  operation: ProblemOperation | null
}

/**
 * An operation with its parameters. It needs no body.
 */
export interface ProblemOperation {
  /**
   * Method and path, as this document has them: `POST /v1/receivers/{receiver}/resume`.
   */
  address: string
  params: {
    [k: string]: string
  }
  /**
   * A verb with its object, for a button.
   */
  label: string
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
