const other = 'other'

/** So many combinations of `other` with a kept label are counted in addition. */
const mostOther = 100

/**
 * Integrators choose the names of integrations and events. Above `most` combinations of labels new ones count as `other`: the
 * memory of Annex, and of Prometheus, stays bounded.
 *
 * Annex chooses the values of the last of several labels, and alarms use it: it is kept as long as possible.
 *
 * @param onNew gets each new combination
 * @returns the labels to count with, for values in the order of `names`
 */
export function limitLabels<const L extends string>(
  names: readonly L[],
  most: number,
  onNew: (labels: Record<L, string>) => void = () => {},
): (...values: string[]) => Record<L, string> {
  const known = new Map<string, Record<L, string>>()
  return (...values) => {
    const found = find(values)
    if (found !== undefined) return found
    if (known.size < most) return add(values)
    const others = values.map((value, index) => (index > 0 && index === values.length - 1 ? value : other))
    const all = values.map(() => other)
    return find(others) ?? (known.size < most + mostOther ? add(others) : (find(all) ?? add(all)))
  }

  function find(values: string[]): Record<L, string> | undefined {
    return known.get(values.join('\n'))
  }

  function add(values: string[]): Record<L, string> {
    const labels = Object.fromEntries(names.map((name, index) => [name, values[index]])) as Record<L, string>
    known.set(values.join('\n'), labels)
    onNew(labels)
    return labels
  }
}
