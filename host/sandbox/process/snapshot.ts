import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { markUsed, readIfThere, writeAtomically } from '../../bundle/keep-build.ts'

const digestBytes = 32

/**
 * A startup snapshot from `cacheFolder`, where it lies under what it was made of and by: V8 ends a process that is given one
 * of another version. What was damaged there is made anew.
 *
 * @param digest of the prelude's sources and of the libraries' versions
 */
export async function keepSnapshot(given: {
  cacheFolder: string
  digest: string
  make: () => Promise<Buffer | undefined>
}): Promise<Buffer | undefined> {
  const file = join(given.cacheFolder, `platform-${ofThisEngine(given.digest)}.snapshot`)
  const kept = await readIfThere(file)
  if (kept !== undefined && sha256(kept.subarray(digestBytes)).equals(kept.subarray(0, digestBytes))) {
    await markUsed(file)
    return kept.subarray(digestBytes)
  }
  const made = await given.make()
  if (made !== undefined) await writeAtomically(file, Buffer.concat([sha256(made), made]))
  return made
}

/** Two builds of one version of Node may differ in how V8 lays out its heap. */
function ofThisEngine(digest: string): string {
  const { versions, config, arch, platform } = process
  return sha256(JSON.stringify([digest, versions, config.variables, arch, platform])).toString('hex')
}

const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest()
