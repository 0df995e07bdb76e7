import type ivm from 'isolated-vm'
import { platformFile } from '../../platform-frames.ts'
import { warmUp } from './warm-up.ts'

/** The web platform, ready to be put into isolates: as a startup snapshot, or as code to evaluate. */
export type Platform = { snapshot: ivm.ExternalCopy<ArrayBuffer> | undefined; code: string }

/**
 * A snapshot brings an isolate up in a tenth of the time that evaluating the prelude takes. Where V8 refuses
 * to make one, or makes one that lacks our globals (Node 20 does), every isolate evaluates the code.
 */
export function createPlatform(engine: typeof ivm, code: string): Platform {
  try {
    const snapshot = engine.Isolate.createSnapshot([{ code, filename: platformFile }], warmUp)
    return { snapshot: isUsable(engine, snapshot) ? snapshot : undefined, code }
  } catch {
    return { snapshot: undefined, code }
  }
}

/** Of a snapshot that was made before, by a process of the same program with the same flags. */
export const openPlatform = (engine: typeof ivm, snapshot: Uint8Array): Platform => ({
  snapshot: new engine.ExternalCopy(new Uint8Array(snapshot).buffer),
  code: '',
})

/** An isolate and its context with the web platform in it, not yet booted. */
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
