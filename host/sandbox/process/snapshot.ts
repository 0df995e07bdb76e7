import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { toProcess } from '../../../runtime/process/messages.ts'
import { markUsed, readIfThere, writeAtomically } from '../../bundle/build-cache.ts'
import { createConnection } from './connection.ts'
import { type StartOptions, startProcess } from './start-process.ts'

/** The web platform of isolates: the prelude's text, or its startup snapshot. From a text each process makes a snapshot. */
export type PlatformSource = { text: string } | { body: Buffer }

/** Making a snapshot takes 0.1 s, and ten times as long on a busy machine. */
const patienceMs = 30_000

/**
 * Makes the startup snapshot of the web platform in a process of its own, which runs no integration.
 *
 * @param start with the code of `runtime/process/snapshot-maker.ts`
 * @returns undefined where V8 makes no snapshot
 */
export async function makeSnapshot(start: StartOptions, prelude: string): Promise<Buffer | undefined> {
  const started = startProcess(() => {}, start)
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>()
  const { send } = createConnection(started.stream, {
    handleFrame: ({ body }) => resolve(body.length > 0 ? body : undefined),
    onGarbage: () => resolve(undefined),
  })
  const patience = setTimeout(() => started.kill(), patienceMs)
  started.exited.then(() => resolve(undefined))
  started.stream.on('error', () => {})
  try {
    send({ type: toProcess.platform, text: prelude })
    return await promise
  } finally {
    clearTimeout(patience)
    started.kill()
    await started.exited
    started.close()
  }
}

const digestBytes = 32

/**
 * Reads the snapshot from `cacheFolder`, or makes and stores it. Its file is named by the sources and by the engine: V8 ends a
 * process that gets a snapshot of another version. A damaged file is made anew.
 *
 * @param given.digest of the prelude's sources and of the libraries' versions
 */
export async function cacheSnapshot(given: {
  cacheFolder: string
  digest: string
  make: () => Promise<Buffer | undefined>
}): Promise<Buffer | undefined> {
  const file = join(given.cacheFolder, `platform-${digestWithEngine(given.digest)}.snapshot`)
  const cached = await readIfThere(file)
  if (cached !== undefined && sha256(cached.subarray(digestBytes)).equals(cached.subarray(0, digestBytes))) {
    await markUsed(file)
    return cached.subarray(digestBytes)
  }
  const made = await given.make()
  if (made !== undefined) await writeAtomically(file, Buffer.concat([sha256(made), made]))
  return made
}

/** Two builds of one version of Node may differ in how V8 lays out its heap. */
function digestWithEngine(digest: string): string {
  const { versions, config, arch, platform } = process
  return sha256(JSON.stringify([digest, versions, config.variables, arch, platform])).toString('hex')
}

const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest()
