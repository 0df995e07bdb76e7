import type ivm from 'isolated-vm'
import { platformFile } from '../../platform-frames.ts'
import { message } from '../../wire-kinds.ts'

/** The web platform for isolates: a startup snapshot, or code to evaluate. */
export type Platform = { snapshot: ivm.ExternalCopy<ArrayBuffer> | undefined; code: string }

const warmUpHead = ['POST', 'http://a/', 'content-type', 'application/json'].join('\n')

/**
 * Boots a context and dispatches a request to a minimal script. The snapshot keeps the bytecode of functions that have run: no
 * isolate compiles them before its first answer. V8 throws the context away: that of the snapshot has run the prelude alone.
 */
const warmUp = `(() => {
  const { define, receive } = __annexBoot(() => {}, () => '', false)
  const answer = async (_event, _environment, request) => Response.json(await request.text())
  define((module) => { module.exports = { [Symbol.for('annex.dispatch')]: answer } })
  receive(${message.environment}, 1, 0, '{}')
  receive(${message.dispatch}, 1, 1, ${JSON.stringify(warmUpHead)}, '{}')
})()`

/**
 * An isolate starts from a snapshot in a tenth of the time that evaluating the prelude takes. Where V8 makes none, or one
 * without Annex's globals (Node 20 does), each isolate evaluates the code.
 */
export function createPlatform(engine: typeof ivm, code: string): Platform {
  try {
    const snapshot = engine.Isolate.createSnapshot([{ code, filename: platformFile }], warmUp)
    return { snapshot: isUsable(engine, snapshot) ? snapshot : undefined, code }
  } catch {
    return { snapshot: undefined, code }
  }
}

/** @param snapshot made by a process of the same program with the same flags */
export const openPlatform = (engine: typeof ivm, snapshot: Uint8Array): Platform => ({
  snapshot: new engine.ExternalCopy(new Uint8Array(snapshot).buffer),
  code: '',
})

/** An isolate and its context with the web platform, not yet booted. */
export function createPlatformContext(
  engine: typeof ivm,
  platform: Platform,
  options: ivm.IsolateOptions,
): { isolate: ivm.Isolate; context: ivm.Context } {
  const isolate = new engine.Isolate(
    platform.snapshot === undefined ? options : { ...options, snapshot: platform.snapshot },
  )
  const context = isolate.createContextSync()
  if (platform.snapshot === undefined) context.evalSync(platform.code, { filename: platformFile })
  return { isolate, context }
}

function isUsable(engine: typeof ivm, snapshot: ivm.ExternalCopy<ArrayBuffer>): boolean {
  const isolate = new engine.Isolate({ snapshot })
  try {
    return isolate.createContextSync().evalSync('typeof __annexBoot') === 'function'
  } finally {
    isolate.dispose()
  }
}
