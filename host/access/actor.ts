import type { Actor } from '../db/queries/audit.ts'
import type { AccountCaller, Caller } from './tokens.ts'

/** An actor, and the request of the change. Annex itself has no request. */
export type Origin = { actor: Actor; requestId: string | null; address: string | null }

export const systemOrigin: Origin = { actor: { kind: 'system', id: null }, requestId: null, address: null }

export function actorOf(caller: Caller | AccountCaller): Actor {
  switch (caller.kind) {
    case 'integration':
      return { kind: 'script', id: caller.integration }
    case 'installation':
      return { kind: 'script', id: caller.installationId }
    case 'account':
      return { kind: 'person', id: caller.accountId }
    default:
      if (caller.memberId !== null) return { kind: 'person', id: caller.memberId }
      return 'tokenId' in caller
        ? { kind: 'token', id: caller.tokenId }
        : { kind: 'person', id: caller.accountId }
  }
}
