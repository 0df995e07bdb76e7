import { createSigningSecret, type SecretBox } from '../access/secret-box.ts'
import type { Db } from '../db/db.ts'
import { changeTargetSecrets } from '../db/queries/installed/installation-targets.ts'
import { changeSecrets, type Signer } from '../db/queries/installed/installations.ts'
import { AnnexError } from '../errors/annex-error.ts'
import type { InstalledLevel } from './level-settings.ts'

export type Rotation = {
  /** How long the old secret signs too. 0: not at all. Default a day. */
  overlapSeconds?: number
  /** Whose signature a receiver gets that reads only one. Default `old`. */
  first?: 'new' | 'old'
  /** The rotation under way gave a secret that nobody has: another one takes its place, and the old one stays. */
  again?: boolean
}

/** What of a rotation is shown. The secret, this once. */
export type Rotated = { signingSecret: string; previousSecretUntil: number | null }

/** When the old secret ends that still signs; null when there is none. */
export const overlapEnd = ({ previousSecretUntil }: Signer, nowMs: number): number | null =>
  previousSecretUntil !== null && nowMs < previousSecretUntil ? previousSecretUntil : null

/**
 * Gives a level a new signing secret. The old one signs too while the overlap lasts.
 *
 * @throws AnnexError `conflict` while an older one still signs: two secrets sign at most, and to drop either without being
 *   told to would turn away receivers that have it
 */
export async function rotateSecret(
  db: Db,
  box: SecretBox,
  level: InstalledLevel,
  { overlapSeconds = 86_400, first = 'old', again = false }: Rotation,
  nowMs: number,
): Promise<Rotated> {
  const signer = level.target ?? level.installation
  const end = overlapEnd(signer, nowMs)
  if (end !== null && overlapSeconds > 0 && !again) throw underWayError(end)
  const signingSecret = createSigningSecret()
  const previousSecretUntil = overlapSeconds === 0 ? null : nowMs + overlapSeconds * 1000
  const kept = end === null ? signer.signingSecret : signer.previousSigningSecret
  await change(db, level, {
    signingSecret: box.seal(signingSecret),
    previousSigningSecret: previousSecretUntil === null ? null : kept,
    previousSecretUntil,
    firstSecret: previousSecretUntil === null ? null : first,
  })
  return { signingSecret, previousSecretUntil }
}

/** Ends an overlap at once: the new secret signs alone. Where none is under way it changes nothing. */
export async function endOverlap(db: Db, level: InstalledLevel): Promise<void> {
  const { signingSecret, previousSigningSecret } = level.target ?? level.installation
  if (previousSigningSecret === null) return
  const none = { previousSigningSecret: null, previousSecretUntil: null, firstSecret: null }
  await change(db, level, { signingSecret, ...none })
}

/** @throws AnnexError `conflict` when somebody else has rotated since it was read */
async function change(db: Db, { installation, target }: InstalledLevel, to: Signer): Promise<void> {
  const changed =
    target === undefined
      ? await changeSecrets(db, installation, to)
      : await changeTargetSecrets(db, target, to)
  if (changed) return
  throw new AnnexError('conflict', 'The signing secret was rotated by somebody else just now.')
}

const underWayError = (endMs: number): AnnexError =>
  new AnnexError(
    'conflict',
    `The secret of before the last rotation still signs, until ${new Date(endMs).toISOString()}. End it first (\`annex rotate-secret --end\`), or make the new one anew with \`again\` (--again) when nobody has it.`,
  )
