import type { Db } from '../db.ts'

/** An image of a version. `name`: its path in the plugin folder; `digest`: SHA-256 of its bytes, in hex. */
export type VersionImage = { name: string; type: string; digest: string; bytes: Buffer }

/** Stores the images of a new version. They are deleted with it. */
export async function insertImages(
  db: Db,
  versionId: string,
  images: readonly VersionImage[],
): Promise<void> {
  // One by one: a statement has at most one large value.
  for (const { bytes, ...image } of images)
    await db('versionImages').insert({ versionId, ...image, bytes: bytes.toString('base64') })
}

/** An image of the deployed version of an integration, with its bytes in base64. */
export async function findImage(
  db: Db,
  integration: string,
  name: string,
): Promise<{ type: string; digest: string; base64: string } | undefined> {
  return db('versionImages')
    .join('integrations', 'integrations.versionId', 'versionImages.versionId')
    .where({ 'integrations.name': integration, 'versionImages.name': name })
    .select('versionImages.type', 'versionImages.digest', { base64: 'versionImages.bytes' })
    .first()
}
