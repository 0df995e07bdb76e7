import { DatabaseSync } from 'node:sqlite'

/** What the database of a host that has ended says of deliveries that did not come, by their keys (see `keyOf`). */
export function whyUndelivered(file: string, keys: readonly string[]): string[] {
  const db = new DatabaseSync(file, { readOnly: true })
  const deliveryOf = db.prepare('select * from deliveries where event_id = ? and url like ?')
  const jobOf = db.prepare(`select * from jobs where kind = 'event' and subject like ?`)
  try {
    return keys.map((key) => {
      const [eventId = '', path = ''] = key.split(' ')
      const row = deliveryOf.get(eventId, `%${path}`) ?? jobOf.get(`%"${eventId}"%`)
      if (row === undefined) return `${key}: neither it nor a job for its event is there`
      const { id, state, reason, last_error: lastError } = row
      return `${key}: ${id} is ${state}; ${reason ?? lastError ?? 'no reason is noted'}`
    })
  } finally {
    db.close()
  }
}
