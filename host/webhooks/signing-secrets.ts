import { isSigningSecret, type SecretBox } from '../access/secret-box.ts'
import type { Clock } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import type { LevelKey, Signer } from '../db/queries/installations.ts'
import { findSigner } from '../db/queries/levels.ts'
import type { ReceiverKey } from '../db/queries/receivers.ts'
import { AnnexError } from '../errors.ts'
import type { SigningSecrets } from './signature.ts'

type SignerKey = Pick<ReceiverKey, 'installationId' | 'signedBy'>

export type FoundSecrets = {
  /**
   * @returns undefined when the level has been deleted
   * @throws AnnexError `settings_invalid` when its secret was stored under another key, or is too weak
   */
  of: (signer: SignerKey) => SigningSecrets | undefined
}

export type SecretReader = {
  find: (db: Db, signers: readonly SignerKey[]) => Promise<FoundSecrets>
  /** Clears the cache after a rotation: the next attempt is signed with the new secret. */
  forget: () => void
}

/** How long the cache is used. A secret that another host has rotated signs this much later. */
const cacheMs = 1_000

/**
 * Reads the secrets of a level, and caches them for one second. `signHeaders` decides by the time of the attempt whether
 * the previous secret still signs.
 */
export function createSecretReader(box: SecretBox, clock: Clock): SecretReader {
  let cache = new Map<string, () => SigningSecrets | undefined>()
  let cachedUntil = 0
  return {
    async find(db, signers) {
      const nowMs = clock.now()
      // A clock that jumps back must not extend the life of the cache.
      if (nowMs >= cachedUntil || nowMs < cachedUntil - cacheMs) {
        cache = new Map()
        cachedUntil = nowMs + cacheMs
      }
      const secrets = cache
      for (const signer of signers) {
        const key = textOf(signer)
        if (!secrets.has(key))
          secrets.set(key, openLater(box, signer, await findSigner(db, keyOfSigner(signer))))
      }
      return { of: (signer) => secrets.get(textOf(signer))?.() }
    },
    forget() {
      cache = new Map()
    },
  }
}

/** Opens a secret at its first use, so that a secret that cannot be opened fails its own deliveries only. */
function openLater(
  box: SecretBox,
  key: SignerKey,
  signer: Signer | undefined,
): () => SigningSecrets | undefined {
  let opened: SigningSecrets | undefined
  return () => {
    if (signer !== undefined) opened ??= open(box, key, signer)
    return opened
  }
}

function open(box: SecretBox, key: SignerKey, signer: Signer): SigningSecrets {
  const current = box.open(signer.signingSecret)
  // `createSigningSecret` did not make it. One signed request is enough to guess such a secret.
  if (!isSigningSecret(current)) throw weakError(key)
  const previous = openPrevious(box, signer)
  return { current, ...(previous && { previous }) }
}

function openPrevious(box: SecretBox, signer: Signer): SigningSecrets['previous'] {
  const { previousSigningSecret, previousSecretUntil, firstSecret } = signer
  if (previousSigningSecret === null || previousSecretUntil === null) return undefined
  const secret = box.open(previousSigningSecret)
  // A weak secret must not sign after a rotation.
  if (!isSigningSecret(secret)) return undefined
  return { secret, untilMs: previousSecretUntil, isFirst: firstSecret !== 'new' }
}

/** The level that signs: `installation`, or `site:ID` or `space:ID` below it. */
export function keyOfSigner({ installationId, signedBy }: SignerKey): LevelKey {
  const [kind, placeId] = signedBy.split(':')
  return (kind === 'site' || kind === 'space') && placeId !== undefined
    ? { installationId, kind, placeId }
    : { installationId, kind: 'account', placeId: '' }
}

function weakError({ installationId, signedBy }: SignerKey): AnnexError {
  const { kind, placeId } = keyOfSigner({ installationId, signedBy })
  const place = kind === 'account' ? '' : ` --${kind} ${placeId}`
  return new AnnexError(
    'settings_invalid',
    `The signing secret of ${installationId} (${signedBy}) is too weak to sign with. \`npx annex rotate-secret ${installationId}${place} --overlap 0\` makes another.`,
  )
}

const textOf = ({ installationId, signedBy }: SignerKey): string => `${installationId} ${signedBy}`
