import type { Calls } from '../bridge/calls.ts'
import { createTable, reflectApply } from '../primordials.ts'
import type { KeySlots } from './crypto-key.ts'

/** Tells the sandbox process which keys no object stands for any more. */
export type KeyGarbage = { watch: (slots: KeySlots) => void }

type Watched = { id: number; slots: WeakRef<KeySlots> }

const NativeWeakRef = WeakRef
const { deref } = WeakRef.prototype
const firstSweep = 128

/**
 * Scripts make a key for each request and never say that they are done with it. A FinalizationRegistry would be the
 * way to learn of it, but its callbacks do not run inside an isolate; so every so many new keys the old ones are
 * looked through. The number doubles with what is alive, so a key costs the same however many there are.
 */
export const createKeyGarbage = (calls: Calls): KeyGarbage => {
  let watched = createTable<Watched>()
  let count = 0
  let nextSweep = firstSweep

  const sweep = (): void => {
    const all = watched
    const total = count
    watched = createTable()
    count = 0
    let dead = ''
    for (let i = 0; i < total; i++) {
      const one = all[i]
      if (one === undefined) continue
      if (reflectApply(deref, one.slots, []) !== undefined) watched[count++] = one
      else dead += `${dead === '' ? '' : ','}${one.id}`
    }
    nextSweep = count * 2 + firstSweep
    if (dead !== '') calls.start('crypto.release', `[${dead}]`, undefined, () => {})
  }

  return {
    watch(slots) {
      watched[count++] = { id: slots.id, slots: new NativeWeakRef(slots) }
      if (count >= nextSweep) sweep()
    },
  }
}
