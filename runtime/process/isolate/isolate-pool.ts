import type ivm from 'isolated-vm'
import { createPlatformContext, type Platform } from './platform.ts'

/** An isolate with the web platform, which belongs to no sandbox yet. */
export type SpareIsolate = { isolate: ivm.Isolate; context: ivm.Context }

/** Keeps one isolate ready: creating it takes half of the time that a sandbox takes to load. */
export type IsolatePool = {
  take: () => SpareIsolate
  /** For moments without other work. */
  refill: () => void
  /** Disposes of the isolate that is ready. */
  close: () => void
}

export function createIsolatePool(
  engine: typeof ivm,
  platform: Platform,
  { heapMb, onCatastrophe }: { heapMb: number; onCatastrophe: () => void },
): IsolatePool {
  let ready: SpareIsolate | undefined
  let isScheduled = false
  let isClosed = false

  const create = (): SpareIsolate =>
    createPlatformContext(engine, platform, {
      memoryLimit: heapMb,
      onCatastrophicError: onCatastrophe,
    })

  return {
    take() {
      const spare = ready ?? create()
      ready = undefined
      return spare
    },
    refill() {
      if (ready !== undefined || isScheduled) return
      isScheduled = true
      // Frames that have arrived by now go first.
      setImmediate(() => {
        isScheduled = false
        if (!isClosed) ready ??= create()
      })
    },
    close() {
      if (isClosed) return
      isClosed = true
      ready?.isolate.dispose()
      platform.snapshot?.release()
    },
  }
}
