/** Values by ids that rise by one. */
export type IdTable<T> = {
  set: (id: number, value: T) => void
  get: (id: number) => T | undefined
  delete: (id: number) => void
  /** In the order of their ids. */
  values: () => T[]
}

/**
 * A table for thousands of short-lived values each second. The last bits of an id are its slot; a value whose slot is needed
 * again moves to a Map. An object with numbered properties takes six times as long. A Map alone leaves old tables behind as it
 * grows, and V8's young generation is then never empty again.
 *
 * @param slots a power of two, above the usual number of values
 */
export function createIdTable<T>(slots: number): IdTable<T> {
  const ids: number[] = new Array(slots).fill(0)
  const recent: (T | undefined)[] = new Array(slots).fill(undefined)
  const older = new Map<number, T>()
  return {
    set(id, value) {
      const slot = id & (slots - 1)
      const before = recent[slot]
      if (before !== undefined && ids[slot] !== id) older.set(ids[slot] as number, before)
      ids[slot] = id
      recent[slot] = value
    },
    get(id) {
      const slot = id & (slots - 1)
      return ids[slot] === id ? recent[slot] : older.get(id)
    },
    delete(id) {
      const slot = id & (slots - 1)
      if (ids[slot] === id) recent[slot] = undefined
      else older.delete(id)
    },
    values() {
      const found = [...older]
      for (let slot = 0; slot < slots; slot++) {
        const value = recent[slot]
        if (value !== undefined) found.push([ids[slot] as number, value])
      }
      return found.sort(([a], [b]) => a - b).map(([, value]) => value)
    },
  }
}
