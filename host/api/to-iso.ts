/** A time as the API shows it, of Unix ms. */
export const toIso = (ms: number): string => new Date(ms).toISOString()
