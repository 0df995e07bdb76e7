// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { Time } from './common.ts'

/**
 * The JSON Schema of visitors' claims.
 */
export interface SiteAdaptiveSchema {
  jsonSchema: {
    type: 'object'
    properties: {
      [k: string]: Claim
    }
    required?: string[]
    [k: string]: unknown
  }
}

/**
 * The JSON Schema of a claim. Annex checks the keywords below, and stores all others as they are.
 */
export type Claim =
  | {
      type?: ClaimType | ClaimType[]
      title?: string
      description?: string
      enum?: unknown[]
      properties?: {
        [k: string]: Claim
      }
      required?: string[]
      items?: Claim
      [k: string]: unknown
    }
  | boolean

export type ClaimType = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'null'

/**
 * How a site authenticates its visitors.
 */
export interface SiteAuthentication {
  object: 'site-authentication'
  backend: 'none' | 'integration'
  /**
   * The name of the integration.
   */
  integration?: string
  installation?: string
  /**
   * Where a visitor signs in. Takes `location`, the path of the page to return to.
   */
  loginUrl?: string
  /**
   * The key that signs tokens of visitors: the signing secret of the site installation. Only its own script gets it.
   */
  privateKey?: string
}

/**
 * A token of a visitor.
 */
export interface VisitorToken {
  token: string
}

/**
 * What a token says of a visitor.
 */
export interface VerifiedVisitor {
  object: 'visitor-token'
  valid: boolean
  /**
   * Why it is not valid.
   */
  reason?: string
  /**
   * The payload of the token.
   */
  claims?: {
    [k: string]: unknown
  }
  expiresAt?: Time
}

export interface VisitorsOperations {
  getSiteAdaptiveSchema: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { org: string; site: string }
    query: object
    body: undefined
    answer: SiteAdaptiveSchema
  }
  updateSiteAdaptiveSchema: {
    roles: 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { org: string; site: string }
    query: object
    body: SiteAdaptiveSchema
    answer: SiteAdaptiveSchema
  }
  deleteSiteAdaptiveSchema: {
    roles: 'editor' | 'admin' | 'operator'
    params: { org: string; site: string }
    query: object
    body: undefined
    answer: void
  }
  getSitePublishingAuthById: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { org: string; site: string }
    query: object
    body: undefined
    answer: SiteAuthentication
  }
  verifySiteVisitorToken: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { org: string; site: string }
    query: object
    body: VisitorToken
    answer: VerifiedVisitor
  }
}
