import type ivm from 'isolated-vm'

/** Measures the stretches of one isolate. */
export type Meter = {
  /** Notes a stretch that took so long by the clock, and returns what of it was CPU time, in ms. */
  stretch: (wallMs: number) => number
  /** The heap as last looked at, in bytes. */
  heapBytes: (nowMs: number) => number
}

/** Below it the clock is as good as the isolate's own count, and twenty times as cheap. */
const quickMs = 1
/** The heap is looked at as often as this. */
const heapEveryMs = 20

export function createMeter(isolate: ivm.Isolate): Meter {
  let cpuSeenMs = 0
  let quickSumMs = 0
  let heap = 0
  let heapAtMs = -heapEveryMs
  return {
    stretch(wallMs) {
      if (isolate.isDisposed) return wallMs
      if (wallMs < quickMs) {
        quickSumMs += wallMs
        return wallMs
      }
      // The machine may have given the time to somebody else: only what the isolate has used is charged.
      const cpuMs = Number(isolate.cpuTime) / 1e6
      const used = cpuMs - cpuSeenMs - quickSumMs
      cpuSeenMs = cpuMs
      quickSumMs = 0
      return Math.min(wallMs, Math.max(0, used))
    },
    heapBytes(nowMs) {
      if (nowMs - heapAtMs >= heapEveryMs && !isolate.isDisposed) {
        heapAtMs = nowMs
        const { used_heap_size: used, externally_allocated_size: external } = isolate.getHeapStatisticsSync()
        heap = used + external
      }
      return heap
    },
  }
}
