import { isSigningSecret, type SecretBox } from '../access/secret-box.ts'
import type { Clock } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import type { EndpointKey } from '../db/queries/endpoints.ts'
import { findTarget } from '../db/queries/installed/installation-targets.ts'
import { findInstallation, type Signer } from '../db/queries/installed/installations.ts'
import { AnnexError } from '../errors/annex-error.ts'
import type { SigningSecrets } from './signature.ts'

type SignerKey = Pick<EndpointKey, 'installationId' | 'signedBy'>

export type FoundSecrets = {
  /**
   * @returns undefined when there is no such level any more
   * @throws AnnexError `settings_invalid` when its secret was stored under another key, or is none that Annex would make
   */
  of: (signer: SignerKey) => SigningSecrets | undefined
}

export type SecretReader = {
  find: (db: Db, signers: readonly SignerKey[]) => Promise<FoundSecrets>
  /** A secret was rotated here: the next attempt is signed with it. */
  forget: () => void
}

/** How long a reading is used again. With several hosts a secret that was rotated on another signs this much later. */
const keepMs = 1_000

/**
 * Reads the secrets of a level once a second rather than once an attempt. Whether the one before still signs is for
 * `signHeaders` to say, by the time of the attempt.
 */
export function createSecretReader(box: SecretBox, clock: Clock): SecretReader {
  let kept = new Map<string, () => SigningSecrets | undefined>()
  let keptUntil = 0
  return {
    async find(db, signers) {
      const nowMs = clock.now()
      // A clock that jumps back must not make a reading good for longer.
      if (nowMs >= keptUntil || nowMs < keptUntil - keepMs) {
        kept = new Map()
        keptUntil = nowMs + keepMs
      }
      const readings = kept
      for (const signer of signers) {
        const key = textOf(signer)
        if (!readings.has(key)) readings.set(key, openLater(box, signer, await findSigner(db, signer)))
      }
      return { of: (signer) => readings.get(textOf(signer))?.() }
    },
    forget() {
      kept = new Map()
    },
  }
}

/** Once, and when it is asked for: a secret that cannot be opened is no concern of the others' deliveries. */
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
  // It came past `createSigningSecret`: whoever has one signed request could find it by trying.
  if (!isSigningSecret(current)) throw weakError(key)
  const previous = openPrevious(box, signer)
  return { current, ...(previous && { previous }) }
}

function openPrevious(box: SecretBox, signer: Signer): SigningSecrets['previous'] {
  const { previousSigningSecret, previousSecretUntil, firstSecret } = signer
  if (previousSigningSecret === null || previousSecretUntil === null) return undefined
  const secret = box.open(previousSigningSecret)
  // A weak one was rotated away: it must not sign on.
  if (!isSigningSecret(secret)) return undefined
  return { secret, untilMs: previousSecretUntil, isFirst: firstSecret !== 'new' }
}

function findSigner(db: Db, { installationId, signedBy }: SignerKey): Promise<Signer | undefined> {
  const [kind, targetId] = signedBy.split(':')
  const isTarget = (kind === 'site' || kind === 'space') && targetId !== undefined
  return isTarget ? findTarget(db, { installationId, kind, targetId }) : findInstallation(db, installationId)
}

function weakError({ installationId, signedBy }: SignerKey): AnnexError {
  const [kind, targetId] = signedBy.split(':')
  const place = targetId === undefined ? '' : ` --${kind} ${targetId}`
  return new AnnexError(
    'settings_invalid',
    `The signing secret of ${installationId} (${signedBy}) is too weak to sign with. \`annex rotate-secret ${installationId}${place} --overlap 0\` makes another.`,
  )
}

const textOf = ({ installationId, signedBy }: SignerKey): string => `${installationId} ${signedBy}`
