import type { Origin } from '../access/actor.ts'
import { createSigningSecret, type SecretBox } from '../access/secret-box.ts'
import type { Db } from '../db/db.ts'
import type { Signer } from '../db/queries/installations.ts'
import { changeSecrets, type Level } from '../db/queries/levels.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import type { AuditAction } from '../logs/audit.ts'
import { auditLevel } from './audit-level.ts'

export type Rotation = {
  /** How long the old secret signs too. 0: not at all. Default a day. */
  overlapSeconds?: number
  /** The signature that stands first, for receivers that read only one. Default `old`. */
  first?: 'new' | 'old'
  /** Replaces the new secret of a rotation under way, because it was lost. The old secret stays. */
  again?: boolean
}

/** The secret is shown this once. */
export type Rotated = { signingSecret: string; previousSecretUntil: number | null }

/** When the old secret stops signing; null when only one secret signs. */
export const overlapEnd = ({ previousSecretUntil }: Signer, nowMs: number): number | null =>
  previousSecretUntil !== null && nowMs < previousSecretUntil ? previousSecretUntil : null

/**
 * Gives a level a new signing secret. The old one signs too while the overlap lasts.
 *
 * @throws AnnexError `conflict` while an older one still signs: at most two secrets sign, and receivers may still rely on
 *   either
 */
export async function rotateSecret(
  db: Db,
  box: SecretBox,
  level: Level,
  { overlapSeconds = 86_400, first = 'old', again = false }: Rotation,
  nowMs: number,
  origin: Origin,
): Promise<Rotated> {
  const end = overlapEnd(level, nowMs)
  if (end !== null && overlapSeconds > 0 && !again) throw underWayError(end)
  const signingSecret = createSigningSecret()
  const previousSecretUntil = overlapSeconds === 0 ? null : nowMs + overlapSeconds * 1000
  const kept = end === null ? level.signingSecret : level.previousSigningSecret
  await change(
    db,
    level,
    {
      signingSecret: box.seal(signingSecret),
      previousSigningSecret: previousSecretUntil === null ? null : kept,
      previousSecretUntil,
      firstSecret: previousSecretUntil === null ? null : first,
    },
    { origin, action: 'secret.rotate', after: { overlapSeconds } },
  )
  return { signingSecret, previousSecretUntil }
}

/** Ends an overlap at once: the new secret signs alone. */
export async function endOverlap(db: Db, level: Level, origin: Origin): Promise<void> {
  const { signingSecret, previousSigningSecret } = level
  if (previousSigningSecret === null) return
  const none = { previousSigningSecret: null, previousSecretUntil: null, firstSecret: null }
  await change(db, level, { signingSecret, ...none }, { origin, action: 'secret.end_overlap' })
}

/** @throws AnnexError `conflict` when another rotation came between */
async function change(
  db: Db,
  level: Level,
  to: Signer,
  { origin, ...entry }: { origin: Origin; action: AuditAction; after?: object },
): Promise<void> {
  const changed = await transact(db, async (transaction) => {
    const isChanged = await changeSecrets(transaction, level, to)
    if (isChanged) await auditLevel(transaction, origin, level, entry)
    return isChanged
  })
  if (changed) return
  throw new AnnexError(
    'conflict',
    'Another request has just rotated this signing secret, and this one changed nothing. Use the new secret, or rotate again.',
  )
}

const underWayError = (endMs: number): AnnexError =>
  new AnnexError(
    'conflict',
    `The previous secret still signs, until ${new Date(endMs).toISOString()}. End it first (\`npx annex rotate-secret --end\`), or replace the new secret with \`again\` (--again) where no receiver has it.`,
  )
