import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { DispatchResult } from '../../runtime/bridge.ts'
import type { Level } from './level.ts'

/** Whose code a sandbox runs. The operator's own shares a process with no other; publishers share above a bound. */
export type SandboxGroup = 'operator' | `publisher-${string}`

/** What runs: one version for one installation, or for an integration as a whole. */
export type SandboxTarget = {
  /** Installation id, or the integration's name where no installation is meant. */
  key: string
  group: SandboxGroup
  integration: string
  version: { digest: string; code: string }
}

/** On whose behalf a dispatch runs. What it asks of the host is checked against this, not against its word. */
export type DispatchContext = {
  requestId: string
  integration: string
  scopes: readonly string[]
  /** The hosts that the manifest declares with `egress`, if it does. */
  declaredHosts?: readonly string[]
  installationId?: string
  organizationId?: string
  level: Level
  /** The event that is being handled, when it is one. */
  event?: { id: string; type: string }
  /** Through how many scripts of this Annex the request has come. */
  hops: number
}

/** Whom the answer is for: Node's response. It closes when the answer has been sent, or the visitor has gone. */
export type Visitor = Pick<ServerResponse, 'once' | 'closed' | 'writableFinished'>

/** A body that is long, or that the script makes as it goes, is a stream: whoever takes the outcome reads or destroys it. */
export type DispatchOutcome = { result: DispatchResult; body: Uint8Array | Readable }

/** The installation that a target runs for, if it runs for one. */
export const installationOf = (target: SandboxTarget): { installationId?: string } =>
  target.key === target.integration ? {} : { installationId: target.key }
