// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { Time } from './common.ts'
import type { Email, MemberRole, PersonName } from './members.ts'
import type { Session } from './sessions.ts'

export interface SignInOptions {
  object: 'sign_in'
  /**
   * True while there is no operator's account: the address that Annex prints at its start makes one.
   */
  needsSetup: boolean
  passkeys: {
    possible: boolean
    /**
     * The host name that passkeys made here belong to.
     */
    host: string
    /**
     * Why a passkey is not possible at this address.
     */
    reason?: string
  }
  /**
   * True over HTTPS and on this machine: the network cannot read the cookie.
   */
  secure: boolean
  /**
   * The OpenID provider, if people may sign in by one.
   */
  openid?: {
    name: string
  }
}

export interface NewPasskeyChallenge {
  purpose: 'sign_in' | 'register'
  email?: Email
  name?: PersonName
}

export interface PasskeyChallenge {
  object: 'passkey_challenge'
  /**
   * For `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`.
   */
  options: {}
}

/**
 * What `PublicKeyCredential.toJSON` gives.
 */
export interface PasskeyResponse {
  id: string
  rawId: string
  type: 'public-key'
  response: {}
}

export interface NewPasskey {
  response: PasskeyResponse
  label?: PersonName
}

/**
 * `sign_in`; `confirm` confirms who is signed in; `link` makes the provider one more way in to the own account.
 */
export type OpenidPurpose = 'sign_in' | 'confirm' | 'link'

export interface NewOpenidFlow {
  purpose: OpenidPurpose
}

export interface OpenidFlow {
  object: 'openid_flow'
  /**
   * The address at the provider, for the browser.
   */
  url: string
  expiresAt: Time
}

export interface OpenidCallback {
  /**
   * The query of the address to which the provider led back.
   */
  query: string
}

export interface OpenidResult {
  object: 'openid_callback'
  purpose: OpenidPurpose
  session: Session
}

export interface GivenLink {
  link: LinkText
}

/**
 * The text after the `#` of a link: annex_setup_…, annex_invite_… or annex_reset_….
 */
export type LinkText = string

export interface Link {
  object: 'link'
  kind: 'setup' | 'invitation' | 'reset'
  email?: string
  name?: string
  role?: MemberRole
  organization?: {
    subdomain: string
    title: string
  }
  expiresAt: Time
}

/**
 * At least 12 characters, and at most 1,024 bytes.
 */
export type NewPassword = string

/**
 * An account has a password or a passkey from its beginning.
 */
export interface NewAccount {
  link: LinkText
  email?: Email
  name?: PersonName
  password?: NewPassword
  passkey?: NewPasskey
}

export interface NewReset {
  link: LinkText
  password?: NewPassword
  passkey?: NewPasskey
}

export interface NewResetLink {
  email: Email
}

export interface ResetLink {
  object: 'reset_link'
  url: string
  link: string
  expiresAt: Time
}

export interface Invitation {
  object: 'invitation'
  url: string
  link: string
  expiresAt: Time
}

/**
 * A person who signs in.
 */
export interface Account {
  object: 'account'
  id: string
  email: Email
  name: PersonName
  operator: boolean
  /**
   * True for an account with a password.
   */
  password: boolean
  passkeys: Passkey[]
  /**
   * The person of the OpenID provider who signs in to this account, or null.
   */
  openid: {
    issuer: string
    /**
     * The claim `sub`.
     */
    subject: string
    /**
     * True: the provider has made the account, and sets its memberships at each sign-in. It has no other way to sign in.
     */
    setsRoles: boolean
    createdAt: Time
    lastUsedAt: string | null
  } | null
}

export interface Passkey {
  id: string
  label: string
  /**
   * The host name that the passkey belongs to. It works there alone.
   */
  host: string
  createdAt: Time
  lastUsedAt: string | null
}

export interface AccountChange {
  name?: PersonName
  email?: Email
  password?: NewPassword
}

/**
 * What a person is in an organization.
 */
export interface Membership {
  organization: {
    id: string
    subdomain: string
    title: string
  }
  role: MemberRole
  /**
   * The id of the member.
   */
  member: string
}

export interface AccountsOperations {
  getSignIn: {
    roles: 'anyone'
    params: {}
    query: object
    body: undefined
    answer: SignInOptions
  }
  createPasskeyChallenge: {
    roles: 'anyone'
    params: {}
    query: object
    body: NewPasskeyChallenge
    answer: PasskeyChallenge
  }
  beginOpenid: {
    roles: 'anyone'
    params: {}
    query: object
    body: NewOpenidFlow
    answer: OpenidFlow
  }
  finishOpenid: {
    roles: 'anyone'
    params: {}
    query: object
    body: OpenidCallback
    answer: OpenidResult
  }
  readLink: {
    roles: 'anyone'
    params: {}
    query: object
    body: GivenLink
    answer: Link
  }
  createAccount: {
    roles: 'anyone'
    params: {}
    query: object
    body: NewAccount
    answer: Session
  }
  resetAccount: {
    roles: 'anyone'
    params: {}
    query: object
    body: NewReset
    answer: Session
  }
  createResetLink: {
    roles: 'operator'
    params: {}
    query: object
    body: NewResetLink
    answer: ResetLink
  }
  getAccount: {
    roles: 'account'
    params: {}
    query: object
    body: undefined
    answer: Account
  }
  updateAccount: {
    roles: 'account'
    params: {}
    query: object
    body: AccountChange
    answer: Account
  }
  addPasskey: {
    roles: 'account'
    params: {}
    query: object
    body: NewPasskey
    answer: Account
  }
  deletePasskey: {
    roles: 'account'
    params: { passkey: string }
    query: object
    body: undefined
    answer: Account
  }
  unlinkOpenid: {
    roles: 'account'
    params: {}
    query: object
    body: undefined
    answer: Account
  }
  acceptInvitation: {
    roles: 'account'
    params: {}
    query: object
    body: GivenLink
    answer: Membership
  }
  inviteMember: {
    roles: 'admin' | 'operator'
    params: { org: string; member: string }
    query: object
    body: undefined
    answer: Invitation
  }
}
