/** What to do about the resident memory of a process, long before it has to be killed for it. */
export type RoomVerdict = 'fine' | 'evict' | 'recycle'

const evictFromPercent = 60
const recycleFromPercent = 75
/** What was ended gives its memory back late, and not all of it: so it is looked at again only after a while. */
const everyMs = 500
/** Where so many are loaded, it is they that fill the process: no single script. */
const crowd = 32
/** V8 keeps about a megabyte of each isolate that has gone. */
const mostEvicted = 600

/**
 * Decides by resident memory: from 60 % of the limit on, sandboxes that were not used lately make room; when that does
 * not help, or so many have gone that their remains add up, the process is replaced by a fresh one.
 */
export function createRoomKeeper(
  residentMb: number,
  now: () => number = () => performance.now(),
): { look: (residentBytes: number, loaded: number) => RoomVerdict; evicted: (count: number) => void } {
  let lookedAtMs = now()
  let gone = 0
  let lastEvicted = 0
  return {
    look(residentBytes, loaded) {
      const percent = (residentBytes / (residentMb * 1024 * 1024)) * 100
      if (percent >= recycleFromPercent && loaded >= crowd) return 'recycle'
      if (percent < evictFromPercent || now() - lookedAtMs < everyMs) return 'fine'
      lookedAtMs = now()
      if (gone >= mostEvicted || (percent >= recycleFromPercent && lastEvicted === 0)) return 'recycle'
      return 'evict'
    },
    evicted(count) {
      gone += count
      lastEvicted = count
    },
  }
}
