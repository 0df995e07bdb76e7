import { toProcess } from '../../../runtime/process/messages.ts'
import { type StartOptions, startProcess } from '../process/start-process.ts'
import { talk } from '../process/connection.ts'

/** It takes a tenth of a second, and a busy machine ten times as long. */
const patienceMs = 15_000

/**
 * Has a process that nobody else's code runs in make the startup snapshot of the web platform.
 *
 * @param start with the code of `runtime/process/snapshot-maker.ts`
 * @returns `undefined` where V8 makes none: each sandbox process sees for itself then
 */
export async function makeSnapshot(start: StartOptions, prelude: string): Promise<Buffer | undefined> {
  const started = startProcess(() => {}, start)
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>()
  const { send } = talk(started.stream, {
    onFrame: ({ body }) => resolve(body.length > 0 ? body : undefined),
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
