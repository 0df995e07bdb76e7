import { constants } from 'node:fs'
import { lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AnnexError } from '../../errors.ts'

/**
 * Writes `generated/integration.ts` in a plugin folder, unless the text is current.
 *
 * @throws AnnexError `manifest_invalid` when `generated` is not a folder, or the file not a regular one. Attack: a symlink
 *   makes Annex write elsewhere.
 */
export async function writeTypes(folder: string, text: string): Promise<{ path: string; written: boolean }> {
  const generated = join(folder, 'generated')
  const path = join(generated, 'integration.ts')
  await assertPlain(generated, 'folder')
  await assertPlain(path, 'file')
  if (await holds(path, text)) return { path, written: false }
  await mkdir(generated, { recursive: true })
  await assertPlain(generated, 'folder')
  // The rename is atomic for readers. EXCL follows no symlink.
  const draft = join(generated, `.integration.ts.${process.pid}`)
  await rm(draft, { force: true })
  try {
    const file = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644)
    await file.writeFile(text).finally(() => file.close())
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
  return { path, written: true }
}

/** True when the types of a plugin folder are those of its manifest. */
export async function hasCurrentTypes(folder: string, text: string): Promise<boolean> {
  const path = join(folder, 'generated', 'integration.ts')
  await assertPlain(join(folder, 'generated'), 'folder')
  await assertPlain(path, 'file')
  return await holds(path, text)
}

async function holds(path: string, text: string): Promise<boolean> {
  const bytes = Buffer.byteLength(text)
  const stat = await lstat(path).catch(() => undefined)
  return stat?.size === bytes && (await readFile(path, 'utf8')) === text
}

async function assertPlain(path: string, kind: 'folder' | 'file'): Promise<void> {
  const stat = await lstat(path).catch(() => undefined)
  if (stat === undefined) return
  if (kind === 'folder' ? stat.isDirectory() : stat.isFile()) return
  const found = stat.isSymbolicLink() ? 'is a symlink' : `is not a ${kind}`
  throw new AnnexError(
    'manifest_invalid',
    `Types were not written: ${path} ${found}. Remove it and try again.`,
  )
}
