// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { NextPage, Time } from './common.ts'
import type { MemberRole } from './members.ts'

/**
 * The purpose of the token.
 */
export type TokenLabel = string

/**
 * A bearer token, without the token itself.
 */
export interface Token {
  object: 'token'
  id: string
  /**
   * Null for an operator's token that belongs to no organization.
   */
  organization: string | null
  /**
   * The member that the token belongs to.
   */
  member: string | null
  role: MemberRole
  label: TokenLabel
  createdAt: Time
  expiresAt: string | null
  lastUsedAt: string | null
}

export interface TokenList {
  items: Token[]
  next?: NextPage
  count: number
}

/**
 * A new token. It is shown this once.
 */
export interface MadeToken {
  object: 'token'
  id: string
  /**
   * Null for an operator's token that belongs to no organization.
   */
  organization: string | null
  /**
   * The member that the token belongs to.
   */
  member: string | null
  role: MemberRole
  label: TokenLabel
  createdAt: Time
  expiresAt: string | null
  lastUsedAt: string | null
  token: string
}

export interface NewToken {
  role?: MemberRole
  label?: TokenLabel
  /**
   * A time in the future. Without one, the token does not expire.
   */
  expiresAt?: string
  /**
   * The id or email of a member. The token ends with the member. Default: the member who makes it, if a member does. Null, from an operator: it belongs to no member.
   */
  member?: string | null
}

export interface NewOperatorToken {
  label?: TokenLabel
  /**
   * A time in the future. Without one, the token does not expire.
   */
  expiresAt?: string
  /**
   * Null: it belongs to no member. Default: the member who makes it, if a member does.
   */
  member?: null
}

export interface ListOrganizationTokensQuery {
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface ListOperatorTokensQuery {
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface TokensOperations {
  listOrganizationTokens: {
    roles: 'admin' | 'operator'
    params: { org: string }
    query: ListOrganizationTokensQuery
    body: undefined
    answer: TokenList
  }
  createOrganizationToken: {
    roles: 'admin' | 'operator'
    params: { org: string }
    query: object
    body: NewToken
    answer: MadeToken
  }
  revokeOrganizationToken: {
    roles: 'admin' | 'operator'
    params: { org: string; token: string }
    query: object
    body: undefined
    answer: void
  }
  listOperatorTokens: {
    roles: 'operator'
    params: {}
    query: ListOperatorTokensQuery
    body: undefined
    answer: TokenList
  }
  createOperatorToken: {
    roles: 'operator'
    params: {}
    query: object
    body: NewOperatorToken
    answer: MadeToken
  }
  revokeOperatorToken: {
    roles: 'operator'
    params: { token: string }
    query: object
    body: undefined
    answer: void
  }
}
