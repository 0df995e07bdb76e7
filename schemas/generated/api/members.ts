// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { NextPage, Time } from './common.ts'

/**
 * docs/access.md has what each role may do.
 */
export type MemberRole = 'reader' | 'editor' | 'admin' | 'operator'

export type Email = string

export type PersonName = string

/**
 * A member of an organization.
 */
export interface Member {
  object: 'member'
  id: string
  organization: string
  email: Email
  name: PersonName
  role: MemberRole
  /**
   * True for a member who signs in. The others have not accepted an invitation.
   */
  account: boolean
  createdAt: Time
  updatedAt: Time
}

export interface MemberList {
  items: Member[]
  next?: NextPage
  count: number
}

export interface NewMember {
  email: Email
  name?: PersonName
  role: MemberRole
}

export interface MemberChange {
  name?: PersonName
  role?: MemberRole
}

export interface DeletedMember {
  object: 'member'
  id: string
  deleted: {
    tokens: number
  }
}

export interface ListMembersInOrganizationByIdQuery {
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface MembersOperations {
  listMembersInOrganizationById: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { org: string }
    query: ListMembersInOrganizationByIdQuery
    body: undefined
    answer: MemberList
  }
  addMemberToOrganizationById: {
    roles: 'admin' | 'operator'
    params: { org: string }
    query: object
    body: NewMember
    answer: Member
  }
  getMemberInOrganizationById: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { org: string; member: string }
    query: object
    body: undefined
    answer: Member
  }
  updateMemberInOrganizationById: {
    roles: 'admin' | 'operator'
    params: { org: string; member: string }
    query: object
    body: MemberChange
    answer: Member
  }
  removeMemberFromOrganizationById: {
    roles: 'admin' | 'operator'
    params: { org: string; member: string }
    query: object
    body: undefined
    answer: DeletedMember
  }
}
