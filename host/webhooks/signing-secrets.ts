import type { SecretBox } from '../access/secret-box.ts'
import type { Clock } from '../db/database-clock.ts'
import type { Db } from '../db/open-database.ts'
import type { EndpointKey } from '../db/queries/endpoints.ts'
import { findTarget } from '../db/queries/installation-targets.ts'
import { findInstallation } from '../db/queries/installations.ts'

type Signer = Pick<EndpointKey, 'installationId' | 'signedBy'>

export type SigningSecrets = { of: (signer: Signer) => string | undefined }

/** How long a reading is used again: a new secret signs this much later at the latest. */
const keepMs = 1_000

/** Reads the secret of a level once a second rather than once an attempt. */
export function createSigningSecrets(
  box: SecretBox,
  clock: Clock,
): { find: (db: Db, signers: readonly Signer[]) => Promise<SigningSecrets> } {
  let kept = new Map<string, string | undefined>()
  let keptUntil = 0
  return {
    async find(db, signers) {
      if (clock.now() >= keptUntil) {
        kept = new Map()
        keptUntil = clock.now() + keepMs
      }
      const readings = kept
      for (const signer of signers) {
        const key = keyOf(signer)
        if (!readings.has(key)) readings.set(key, await read(db, signer))
      }
      return { of: (signer) => readings.get(keyOf(signer)) }
    },
  }

  async function read(db: Db, { installationId, signedBy }: Signer): Promise<string | undefined> {
    const [kind, targetId] = signedBy.split(':')
    const isTarget = (kind === 'site' || kind === 'space') && targetId !== undefined
    const signer = isTarget
      ? await findTarget(db, { installationId, kind, targetId })
      : await findInstallation(db, installationId)
    return signer && box.open(signer.signingSecret)
  }
}

const keyOf = ({ installationId, signedBy }: Signer): string => `${installationId} ${signedBy}`
