/** A delivery that has come to a receiver, and how it was answered. */
export type Arrival = { eventId: string; path: string; status: number; atMs: number }

/** The key of a delivery: one event for one URL. */
export const keyOf = ({ eventId, path }: Pick<Arrival, 'eventId' | 'path'>): string => `${eventId} ${path}`
