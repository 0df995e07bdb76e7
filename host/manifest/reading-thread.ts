import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { readFolder, type ThreadMessage } from './read-folders.ts'
import type { ReadOptions, ToPlain } from './read-options.ts'

if (parentPort === null) throw new Error('This module runs in a thread of its own.')
const port = parentPort
const post = (message: ThreadMessage): void => port.postMessage(message)

/** esbuild is a process. The host runs it: a thread that ends would leave it as a zombie. */
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
