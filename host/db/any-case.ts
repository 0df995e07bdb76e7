/** ASCII alone, as names are: `K` (U+212A) would become `k`, and name another record. */
export const toLowerName = (name: string): string => name.replace(/[A-Z]+/g, (some) => some.toLowerCase())

/** True for two spellings of one name. Names are unique in any letter case. */
export const isSameName = (one: string, other: string): boolean => toLowerName(one) === toLowerName(other)
