/** Keeps something in a map that forgets: what was kept last stays, up to so much of it. */
export function keepLast<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= most) return
  const [oldest = key] = map.keys()
  map.delete(oldest)
}
