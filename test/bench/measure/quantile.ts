/** The value below which that part of the values lies; between two values, their mean. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * part
  const lower = sorted[Math.floor(at)] ?? Number.NaN
  const upper = sorted[Math.ceil(at)] ?? Number.NaN
  return (lower + upper) / 2
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)
