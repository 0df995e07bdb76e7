import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { messageOf } from '../errors.ts'
import { sideBySide } from '../side-by-side.ts'
import { unlessAborted } from '../unless-aborted.ts'
import { createProblem } from './problem.ts'
import { readInside } from './read-inside.ts'
import { type ManifestReading, readManifest } from './read-manifest.ts'
import type { ReadOptions } from './read-options.ts'
import { compileTypes } from './settings/settings-types.ts'

/** `types`: the text of `generated/integration.ts`, when the folder has another text or none. */
export type FolderReading = ManifestReading & { types?: string }

/** What the reading thread reads. */
export type ThreadRequest = { folder: string; options: ReadOptions }

/** Far more than any real manifest needs. */
const defaultHeapMb = 512
const maxTypesBytes = 4 * 1024 * 1024

/** To start a thread takes longer than to read a folder: the next reload within this time takes the last one's. */
const idleMs = 10_000
let idle: { thread: Worker; timer: NodeJS.Timeout } | undefined
const never = new AbortController().signal

/** A thread takes 0.2 s to start. */
const foldersPerThread = 32

/**
 * Reads plugin folders in threads: a hostile manifest takes up to a second, and the host goes on answering. A folder that
 * needs more than `heapMb` ends its thread. That folder fails; the next one gets a new thread.
 *
 * @param given.signal ends the reading; its reason is thrown
 */
export async function readFolders(
  folders: readonly string[],
  options: ReadOptions,
  { heapMb = defaultHeapMb, signal = never }: { heapMb?: number; signal?: AbortSignal } = {},
): Promise<FolderReading[]> {
  const threads = Math.min(availableParallelism(), Math.ceil(folders.length / foldersPerThread))
  const free: Worker[] = []
  try {
    return await sideBySide(folders, threads, async (folder) => {
      signal.throwIfAborted()
      const thread = free.pop() ?? takeIdle(heapMb) ?? startThread(heapMb)
      try {
        const reading = await unlessAborted(readInThread(thread, { folder, options }), signal)
        free.push(thread)
        return reading
      } catch (error) {
        await thread.terminate()
        signal.throwIfAborted()
        return toFailure(folder, error)
      }
    })
  } finally {
    await Promise.all(free.map((thread) => release(thread, heapMb)))
  }
}

function takeIdle(heapMb: number): Worker | undefined {
  if (idle === undefined || heapMb !== defaultHeapMb) return undefined
  const { thread, timer } = idle
  clearTimeout(timer)
  idle = undefined
  thread.ref()
  return thread
}

async function release(thread: Worker, heapMb: number): Promise<void> {
  if (idle !== undefined || heapMb !== defaultHeapMb) return void (await thread.terminate())
  thread.unref()
  const end = () => {
    // Before it ends: a reload must not take a thread that is ending.
    idle = undefined
    void thread.terminate()
  }
  idle = { thread, timer: setTimeout(end, idleMs).unref() }
}

/** Reads and checks the manifest of a plugin folder, and compiles its types. Reports all mistakes, and throws for none. */
export async function readFolder(folder: string, options: ReadOptions): Promise<FolderReading> {
  const reading = await readManifest(folder, options)
  if (reading.manifest === undefined) return reading
  try {
    const types = await toNewTypes(folder, reading.manifest, options)
    return { ...reading, ...(types !== undefined && { types }) }
  } catch (error) {
    // No known manifest gets here. The script runs without types.
    const message = `its settings have no types: ${messageOf(error)}`
    const problem = createProblem(reading.file, '', { line: 1, column: 1 }, { severity: 'warning', message })
    return { ...reading, problems: [...reading.problems, problem] }
  }
}

async function toNewTypes(
  folder: string,
  manifest: Manifest,
  { ownFiles }: ReadOptions,
): Promise<string | undefined> {
  const file = await readInside(folder, join('generated', 'integration.ts'), maxTypesBytes, ownFiles)
  const current = 'bytes' in file ? file.bytes.toString('utf8') : ''
  const types = await compileTypes(manifest, current)
  return types === current ? undefined : types
}

function startThread(heapMb: number): Worker {
  const thread = new Worker(new URL('reading-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  })
  thread.on('error', () => {})
  thread.once('exit', () => {
    if (idle?.thread === thread) idle = undefined
  })
  return thread
}

/** An error in the thread is thrown as it is. */
async function readInThread(thread: Worker, request: ThreadRequest): Promise<FolderReading> {
  const settled = new AbortController()
  const { signal } = settled
  const end = once(thread, 'exit', { signal }).then(() => {
    throw new Error('the thread that reads it has ended')
  })
  const answer = once(thread, 'message', { signal })
  thread.postMessage(request)
  try {
    const [reading] = await Promise.race([answer, end])
    return reading as FolderReading
  } finally {
    settled.abort()
  }
}

function toFailure(folder: string, error: unknown): FolderReading {
  const file = join(folder, 'service-manifest.yaml')
  const message = `the manifest could not be read: ${messageOf(error)}`
  return { folder, file, problems: [createProblem(file, '', { line: 1, column: 1 }, { message })] }
}
