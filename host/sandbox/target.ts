import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { AnswerHead, DispatchResult } from '../../runtime/bridge.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { LevelRef } from './level-ref.ts'

/** The publisher of the code in a sandbox. The operator's own code never shares a process; publishers share above a bound. */
export type SandboxGroup = 'operator' | `publisher-${string}`

/** One version for one installation, or for an integration as a whole. */
export type SandboxTarget = {
  /** Installation id, or the integration's name for a target without an installation. */
  key: string
  group: SandboxGroup
  integration: string
  /** `handledEvents`: the event types that the script handles, as JSON text. Null: not known. */
  version: { digest: string; code: string; handledEvents?: string | null }
}

/** The identity of a dispatch. Host calls are checked against it, and not against the script's claims. */
export type DispatchContext = {
  requestId: string
  integration: string
  /** The digest of the version that runs. */
  version?: string
  versionId?: string
  scopes: readonly string[]
  /** The hosts that the manifest declares with `egress`, if it does. */
  declaredHosts?: readonly string[]
  /** The settings that the manifest declares: people type hosts of deliveries there. */
  settings?: Manifest['configurations']
  installationId?: string
  organizationId?: string
  level: LevelRef
  /** The event that the dispatch handles, if any. */
  event?: { id: string; type: string }
  /** How many scripts of this Annex the request has passed: a loop ends at a limit. */
  hops: number
}

/** Node's response for the answer. It closes when the answer has been sent, or the visitor has gone. */
export type Visitor = Pick<ServerResponse, 'once' | 'closed' | 'writableFinished'>

/** A long or generated body is a stream: the caller reads or destroys it. */
export type DispatchOutcome = { result: DispatchResult; body: Uint8Array | Readable }

/** A Response that a handler returned. */
export type ScriptResponse = { head: AnswerHead; body: DispatchOutcome['body'] }

/** The installation that a target runs for, if it runs for one. */
export const installationOf = (target: SandboxTarget): { installationId?: string } =>
  target.key === target.integration ? {} : { installationId: target.key }
