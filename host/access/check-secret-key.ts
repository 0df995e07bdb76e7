import type { Db } from '../db/db.ts'
import { ensureKeyCheck, findSealedSecret } from '../db/queries/key-checks.ts'
import { AnnexError } from '../errors/annex-error.ts'
import type { SecretBox } from './secret-box.ts'

/**
 * Makes sure that this host has the key that the database's secrets are encrypted with: all hosts that share one need
 * it, for signatures and for the tokens of scripts.
 *
 * @throws AnnexError `settings_invalid` when it has another one
 */
export async function checkSecretKey(db: Db, box: SecretBox): Promise<void> {
  const secret = await findSealedSecret(db)
  if (secret !== undefined) assertOpens(box, secret)
  assertOpens(box, await ensureKeyCheck(db, box.seal('the same')))
}

function assertOpens(box: SecretBox, sealed: string): void {
  try {
    box.open(sealed)
  } catch (cause) {
    throw new AnnexError(
      'settings_invalid',
      'SECRET_KEY: the key of this host (SECRET_KEY, or secret.key in DATA_DIR) is not the one that the secrets in the ' +
        'database are encrypted with. Give it the key of the host that made them: all hosts of a database have the same.',
      { cause },
    )
  }
}
