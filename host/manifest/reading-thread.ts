import { once } from 'node:events'
import { parentPort } from 'node:worker_threads'
import { readFolder, type ThreadMessage, type ThreadRequest } from './read-folders.ts'
import type { ToPlain } from './read-options.ts'

if (parentPort === null) throw new Error('This module runs in a thread of its own.')
const port = parentPort
const post = (message: ThreadMessage): void => port.postMessage(message)

/** esbuild is a process. The host runs it: a thread that ends would leave it as a zombie. */
const toPlain: ToPlain = async (...script) => {
  post({ script })
  const [plain] = await once(port, 'message')
  return plain
}

for (;;) {
  const [{ folder, options }]: [ThreadRequest] = (await once(port, 'message')) as [ThreadRequest]
  post({ reading: await readFolder(folder, { ...options, toPlain }) })
}
