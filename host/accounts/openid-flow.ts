import type { SecretBox } from '../access/secret-box.ts'
import { createSecret, hashOf } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { useChallenge } from '../db/queries/passkeys.ts'
import { isAnnexError } from '../errors.ts'
import type { FlowSecrets } from './openid-provider.ts'

export type FlowPurpose = 'sign_in' | 'confirm' | 'link'

/** A sign-in at the OpenID provider, from its beginning to its callback. */
export type OpenidFlow = FlowSecrets & {
  purpose: FlowPurpose
  /** The session that is confirmed, or whose account is linked. */
  sessionId: string | null
  /** Unix ms. */
  startedAt: number
}

/** From its beginning to its callback. */
export const flowMs = 10 * 60 * 1000

/**
 * Flows are sealed into a cookie of their browser, so that a stranger's request stores nothing. Those that were used are stored, until
 * they would have ended.
 */
export type OpenidFlows = {
  create: (given: Pick<OpenidFlow, 'purpose' | 'sessionId' | 'redirectUri'>) => OpenidFlow
  seal: (flow: OpenidFlow) => string
  /** @returns undefined for a text that is no flow of this state, and for one that has ended */
  open: (sealed: string, state: string) => OpenidFlow | undefined
  /** @returns false for a flow that was used before */
  use: (transaction: Db, flow: OpenidFlow) => Promise<boolean>
}

/** Other texts are sealed with the same key. */
const kind = 'openid-flow'

export function createOpenidFlows(box: Pick<SecretBox, 'seal' | 'open'>): OpenidFlows {
  return {
    create: (given) => ({
      ...{ state: createSecret(), nonce: createSecret(), verifier: createSecret(), startedAt: Date.now() },
      ...given,
    }),
    seal: (flow) => box.seal(JSON.stringify({ kind, ...flow })),
    open(sealed, state) {
      const flow = read(sealed)
      if (flow?.kind !== kind || flow.state !== state) return undefined
      return flow.startedAt + flowMs > Date.now() ? flow : undefined
    },
    use: (transaction, { state, startedAt }) => useChallenge(transaction, hashOf(state), startedAt + flowMs),
  }

  function read(sealed: string): (OpenidFlow & { kind: string }) | undefined {
    try {
      return JSON.parse(box.open(sealed))
    } catch (error) {
      if (isAnnexError(error) || error instanceof SyntaxError) return undefined
      throw error
    }
  }
}
