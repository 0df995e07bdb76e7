// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { PasskeyResponse } from './accounts.ts'
import type { NextPage, Time } from './common.ts'

/**
 * Email and password, or a passkey.
 */
export interface SignIn {
  email?: string
  password?: string
  passkey?: PasskeyResponse
}

/**
 * The password, or a passkey.
 */
export interface NewConfirmation {
  password?: string
  passkey?: PasskeyResponse
}

/**
 * A browser that is signed in.
 */
export interface Session {
  object: 'session'
  id: string
  /**
   * True for the session of the request.
   */
  current: boolean
  method: 'password' | 'passkey' | 'setup' | 'invitation' | 'reset' | 'openid'
  createdAt: Time
  lastUsedAt: Time
  confirmedAt: Time
  expiresAt: Time
  /**
   * The address that signed in.
   */
  address: string | null
  userAgent: string
}

export interface SessionList {
  items: Session[]
  next?: NextPage
  count: number
}

export interface ListSessionsQuery {
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface SessionsOperations {
  signIn: {
    roles: 'anyone'
    params: {}
    query: object
    body: SignIn
    answer: Session
  }
  listSessions: {
    roles: 'account'
    params: {}
    query: ListSessionsQuery
    body: undefined
    answer: SessionList
  }
  endSession: {
    roles: 'account'
    params: { session: string }
    query: object
    body: undefined
    answer: void
  }
  confirmSession: {
    roles: 'account'
    params: {}
    query: object
    body: NewConfirmation
    answer: Session
  }
}
