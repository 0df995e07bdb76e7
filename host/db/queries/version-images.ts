import type { Db } from '../db.ts'

/** An image of a version. `name`: its path in the plugin folder. */
export type VersionImage = { name: string; type: string; bytes: Buffer }

/** Stores the images of a new version. They are deleted with it. */
export async function insertImages(
  db: Db,
  versionId: string,
  images: readonly VersionImage[],
): Promise<void> {
  // One by one: a statement has at most one large value.
  for (const { name, type, bytes } of images)
    await db('versionImages').insert({ versionId, name, type, bytes: bytes.toString('base64') })
}

/** An image of the deployed version of an integration. */
export async function findImage(
  db: Db,
  integration: string,
  name: string,
): Promise<VersionImage | undefined> {
  const row = await db('versionImages')
    .join('integrations', 'integrations.versionId', 'versionImages.versionId')
    .where({ 'integrations.name': integration, 'versionImages.name': name })
    .select('versionImages.type', 'versionImages.bytes')
    .first()
  return row && { name, type: row.type, bytes: Buffer.from(row.bytes, 'base64') }
}
