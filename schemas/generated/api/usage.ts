// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { Time } from './common.ts'

/**
 * Sums of a time.
 */
export interface UsageByInstallation {
  items: InstallationUsage[]
  count: number
  from: Time
  limits: DispatchLimits
}

/**
 * What one dispatch may use. A dispatch that uses more is ended, and fails.
 */
export interface DispatchLimits {
  /**
   * `SANDBOX_CPU_MS`.
   */
  cpuMs: number
  /**
   * `SANDBOX_HEAP_MB`.
   */
  heapBytes: number
  /**
   * `SANDBOX_FETCHES`.
   */
  egressCalls: number
  /**
   * `SANDBOX_CALLS`.
   */
  hostCalls: number
}

/**
 * What an installation used.
 */
export interface InstallationUsage {
  object: 'installation_usage'
  integration: string
  /**
   * Absent: dispatches of the integration without an installation.
   */
  installation?: string
  dispatches: number
  failed: number
  cpuMs: number
  wallMs: number
  egressCalls: number
  egressBytes: number
  hostCalls: number
  maxHeapBytes: number
}

export interface ListUsageByInstallationQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
  /**
   * The time up to now that is summed.
   */
  span: 'hour' | 'day' | 'week'
  /**
   * The most items of an answer.
   */
  limit: number
}

export interface UsageOperations {
  listUsageByInstallation: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: {}
    query: ListUsageByInstallationQuery
    body: undefined
    answer: UsageByInstallation
  }
}
