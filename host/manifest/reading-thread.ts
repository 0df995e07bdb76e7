import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { type FolderReading, readFolder } from './read-folder.ts'
import type { ReadOptions, ToPlain } from './read-options.ts'

/** The reading of a folder, or a script that the host is to make plain meanwhile. */
export type Posted = { reading: FolderReading } | { script: Parameters<ToPlain> }

if (parentPort === null) throw new Error('This module runs in a thread of its own.')
const port = parentPort
const post = (message: Posted): void => port.postMessage(message)

/** esbuild is a process, which stays unreaped when the thread that started it ends: so the host runs it. */
const toPlain: ToPlain = async (...script) => {
  post({ script })
  const [plain] = await once(port, 'message')
  return plain
}

const options: ReadOptions = { ...workerData, toPlain }
for (;;) {
  const [folder] = await once(port, 'message')
  post({ reading: await readFolder(folder, options) })
}
