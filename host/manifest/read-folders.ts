import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { messageOf } from '../errors/annex-error.ts'
import { nextMessage } from '../next-message.ts'
import { toPlainScript } from './checks/check-script.ts'
import { createProblem } from './problem.ts'
import type { FolderReading } from './read-folder.ts'
import type { ReadOptions } from './read-options.ts'
import type { Posted } from './reading-thread.ts'

/** Far above the heap that any manifest takes. */
const defaultHeapMb = 512

/**
 * Reads plugin folders in a thread: a hostile manifest takes up to a second, and the host answers meanwhile. The host asks
 * for one folder at a time, as many answers at once would block it too. A folder that takes more than `heapMb` ends
 * the thread and fails alone.
 */
export async function readFolders(
  folders: readonly string[],
  options: ReadOptions,
  heapMb = defaultHeapMb,
): Promise<FolderReading[]> {
  const readings: FolderReading[] = []
  let thread: Worker | undefined
  try {
    for (const folder of folders) {
      thread ??= start(options, heapMb)
      try {
        readings.push(await readIn(thread, folder))
      } catch (error) {
        readings.push(refuse(folder, error))
        await thread.terminate()
        thread = undefined
      }
    }
  } finally {
    await thread?.terminate()
  }
  return readings
}

async function readIn(thread: Worker, folder: string): Promise<FolderReading> {
  thread.postMessage(folder)
  for (;;) {
    const posted = (await nextMessage(thread, 'the thread that reads it has ended')) as Posted
    if ('reading' in posted) return posted.reading
    thread.postMessage(await toPlainScript(...posted.script))
  }
}

function start(options: ReadOptions, heapMb: number): Worker {
  const thread = new Worker(new URL('reading-thread.ts', import.meta.url), {
    workerData: options,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  })
  thread.on('error', () => {})
  return thread
}

function refuse(folder: string, error: unknown): FolderReading {
  const file = join(folder, 'service-manifest.yaml')
  const message = `the manifest could not be read: ${messageOf(error)}`
  return { file, problems: [createProblem(file, '', { line: 1, column: 1 }, { message })] }
}
