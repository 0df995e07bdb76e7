// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { Account, Membership } from './accounts.ts'
import type { MemberRole } from './members.ts'
import type { Session } from './sessions.ts'

/**
 * The holder of a token, and what it may do.
 */
export interface Me {
  object: 'me'
  role: 'reader' | 'editor' | 'admin' | 'operator' | 'integration' | 'installation' | 'account'
  /**
   * The organization of a person’s token, or the one that a session names. An operator’s token is of none.
   */
  organization?: {
    id: string
    subdomain: string
    title: string
  }
  /**
   * The name of the script’s integration.
   */
  integration?: string
  /**
   * The id of the script’s installation.
   */
  installation?: string
  /**
   * The scopes of a script’s token.
   */
  scopes?: string[]
  account?: Account
  session?: Session
  /**
   * The memberships of the person of a session.
   */
  memberships?: Membership[]
  /**
   * By the id of an operation, the least role of a person who may call it.
   */
  needs: {
    [k: string]: MemberRole
  }
  /**
   * The ids of the operations that this role, and these scopes, may call.
   */
  allowed: string[]
}

export interface MeOperations {
  getMe: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration' | 'account'
    params: {}
    query: object
    body: undefined
    answer: Me
  }
}
