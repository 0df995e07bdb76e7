import type ivm from 'isolated-vm'

/** The heap statistics of V8 are read as often as this. */
const everyMs = 20

/** @returns reads the heap of an isolate, in bytes; between two reads of V8 it is the last one */
export function createHeapMeter(isolate: ivm.Isolate): (nowMs: number) => number {
  let heap = 0
  let readAtMs = -everyMs
  return (nowMs) => {
    if (nowMs - readAtMs >= everyMs && !isolate.isDisposed) {
      readAtMs = nowMs
      const { used_heap_size: used, externally_allocated_size: external } = isolate.getHeapStatisticsSync()
      heap = used + external
    }
    return heap
  }
}
