import { once } from 'node:events'
import { parentPort } from 'node:worker_threads'
import { readFolder, type ThreadRequest } from './read-folders.ts'

if (parentPort === null) throw new Error('This module runs in a thread of its own.')
const port = parentPort

for (;;) {
  const [{ folder, options }]: [ThreadRequest] = (await once(port, 'message')) as [ThreadRequest]
  port.postMessage(await readFolder(folder, options))
}
