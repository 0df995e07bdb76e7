import { statfs } from 'node:fs/promises'
import { type ErrorCode, isAnnexError } from '../errors.ts'
import type { Db } from './db.ts'
import { explainStorageError } from './errors.ts'
import type { GroupCommit } from './group-commit.ts'
import { writeProbe } from './queries/key-checks.ts'

/** `error`: why the database takes no writes. `freeBytes`: free space of the data folder's disk. */
export type StorageState = { error: ErrorCode | undefined; freeBytes: number | undefined }

export type StorageProbe = () => Promise<StorageState>

/** `/readyz` is public: a write for each request would let a stranger load the disk. */
const everyMs = 1_000
/** A slow disk is not a full disk: after this time the result of the last finished write is used. */
const patienceMs = 1_500

/**
 * Tests by a write whether the database takes writes. Free space alone does not show a quota, a limit of file size, or the
 * disk of another machine.
 */
export function createStorageProbe(commits: GroupCommit, dataDir: string): StorageProbe {
  let error: ErrorCode | undefined
  let writing: Promise<void> | undefined
  let writtenAt = Number.NEGATIVE_INFINITY
  return async () => {
    if (writing === undefined && performance.now() - writtenAt > everyMs) writing = write()
    const { promise: patience, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, patienceMs)
    await Promise.race([writing, patience])
    clearTimeout(timer)
    return { error, freeBytes: await readFreeBytes(dataDir) }
  }

  async function write(): Promise<void> {
    try {
      await commits.store(touch, undefined)
      error = undefined
    } catch (thrown) {
      error = isAnnexError(thrown) ? thrown.code : (explainStorageError(thrown)?.code ?? 'internal')
    } finally {
      writtenAt = performance.now()
      writing = undefined
    }
  }
}

async function touch(transaction: Db, items: readonly undefined[]): Promise<undefined[]> {
  await writeProbe(transaction)
  return [...items]
}

async function readFreeBytes(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  } catch {
    return undefined
  }
}
