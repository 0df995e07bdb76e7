/** A delivery that has come to a receiver, and how it was answered. */
export type Arrival = { eventId: string; path: string; status: number; atMs: number }

/** A delivery by what it is: one event, owed to one URL. */
export const keyOf = ({ eventId, path }: Pick<Arrival, 'eventId' | 'path'>): string => `${eventId} ${path}`
