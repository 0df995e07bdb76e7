import type ivm from 'isolated-vm'
import { createPlatformContext, type Platform } from './platform.ts'

/** An isolate with the web platform in it, of no sandbox yet. */
export type Blank = { isolate: ivm.Isolate; context: ivm.Context }

/** Keeps one ready: making it is half of what a sandbox takes to load, and can be done while nobody waits. */
export type Stock = {
  take: () => Blank
  /** To be called when there is nothing else to do. */
  refill: () => void
}

export function createStock(engine: typeof ivm, platform: Platform, heapMb: number): Stock {
  let ready: Blank | undefined
  let isAsked = false

  const make = (): Blank =>
    createPlatformContext(engine, platform, {
      memoryLimit: heapMb,
      // V8 is beyond help: even process.exit() would hang. The black box already says whose code it was.
      onCatastrophicError: () => process.kill(process.pid, 'SIGKILL'),
    })

  return {
    take() {
      const blank = ready ?? make()
      ready = undefined
      return blank
    },
    refill() {
      if (ready !== undefined || isAsked) return
      isAsked = true
      // What has come in meanwhile goes first.
      setImmediate(() => {
        isAsked = false
        ready ??= make()
      })
    },
  }
}
