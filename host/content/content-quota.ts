import type { Db } from '../db/db.ts'
import { addContentBytes, lockContentBytes } from '../db/queries/content-bytes.ts'
import type { Space } from '../db/queries/places.ts'
import { AnnexError } from '../errors.ts'

const mb = 1024 * 1024

/**
 * Counts rows of a revision before they are stored. Replaced texts stay until their revisions are pruned, so each write adds
 * bytes. Above the quota a revision passes whose rows have at most half the bytes of the rows that it ends.
 *
 * Attack: a page that is a byte shorter in each revision would fill the disk. Half, and half again, is bounded.
 *
 * @param given.bytes of the rows, and `before` of those that the revision has stored already
 * @param given.findEnded gives the bytes of all rows that the revision ends
 * @throws AnnexError `content_quota`
 */
export async function countContent(
  transaction: Db,
  { id: spaceId, organizationId }: Space,
  given: { bytes: number; before: number; most: number; findEnded: () => Promise<number> },
): Promise<void> {
  const { bytes, before, most } = given
  const kept = await lockContentBytes(transaction, organizationId)
  await addContentBytes(transaction, spaceId, bytes)
  if (most === 0 || kept + bytes <= most) return
  if ((before + bytes) * 2 <= (await given.findEnded())) return
  const used = ((kept - before) / mb).toFixed(1)
  throw new AnnexError(
    'content_quota',
    `Nothing was stored: the kept revisions of the organization ${organizationId} have ${used} MB, and with this one they would ` +
      `have more than ${most / mb} MB (CONTENT_QUOTA_MB). Delete a space: its bytes are free at once. Or delete pages: their ` +
      'bytes are free when their revisions are older than RETENTION_DAYS. Or let the operator raise CONTENT_QUOTA_MB.',
  )
}
