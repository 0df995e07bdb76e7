import type { Actor } from '../db/queries/audit.ts'
import type { Caller } from './tokens.ts'

/** An actor, and the request of the change. Annex itself has no request. */
export type Origin = { actor: Actor; requestId: string | null; address: string | null }

export const systemOrigin: Origin = { actor: { kind: 'system', id: null }, requestId: null, address: null }

export function actorOf(caller: Caller): Actor {
  switch (caller.kind) {
    case 'integration':
      return { kind: 'script', id: caller.integration }
    case 'installation':
      return { kind: 'script', id: caller.installationId }
    default:
      return caller.memberId === null
        ? { kind: 'token', id: caller.tokenId }
        : { kind: 'person', id: caller.memberId }
  }
}
