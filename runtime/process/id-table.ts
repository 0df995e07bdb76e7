/** Values by ids that rise by one. */
export type IdTable<T> = {
  set: (id: number, value: T) => void
  get: (id: number) => T | undefined
  delete: (id: number) => void
  /** In the order of their ids. */
  values: () => T[]
}

/**
 * A table for thousands of short-lived values each second. The last bits of an id are its place; a value whose place is needed
 * again moves to a Map. An object with numbered properties takes six times as long. A Map alone leaves old tables behind as it
 * grows, and V8's young generation is then never empty again.
 *
 * @param places a power of two, above the usual number of values
 */
export function createIdTable<T>(places: number): IdTable<T> {
  const ids: number[] = new Array(places).fill(0)
  const recent: (T | undefined)[] = new Array(places).fill(undefined)
  const older = new Map<number, T>()
  return {
    set(id, value) {
      const place = id & (places - 1)
      const before = recent[place]
      if (before !== undefined && ids[place] !== id) older.set(ids[place] as number, before)
      ids[place] = id
      recent[place] = value
    },
    get(id) {
      const place = id & (places - 1)
      return ids[place] === id ? recent[place] : older.get(id)
    },
    delete(id) {
      const place = id & (places - 1)
      if (ids[place] === id) recent[place] = undefined
      else older.delete(id)
    },
    values() {
      const found = [...older]
      for (let place = 0; place < places; place++) {
        const value = recent[place]
        if (value !== undefined) found.push([ids[place] as number, value])
      }
      return found.sort(([a], [b]) => a - b).map(([, value]) => value)
    },
  }
}
