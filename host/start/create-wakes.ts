import type { Notifications } from '../db/notifications.ts'
import type { Wake, Worker } from '../queue/worker.ts'
import { type Changes, createChanges } from '../webhooks/follow-deliveries.ts'

/** Tells whoever waits for it that something has changed, in this host and in those that share its database. */
export type Wakes = {
  /** There is work. */
  wake: Wake
  /** Records have changed that were read before. */
  forget: () => void
  /** For those who follow deliveries. */
  changes: Changes
  /** From now on it is woken when there is work. */
  begin: (worker: Worker) => void
  /** From now on it is called when what this host has read of records may have changed. */
  beginReading: (forget: () => void) => void
}

export function createWakes(notifications: Notifications): Wakes {
  const changes = createChanges()
  const workers: Worker[] = []
  let forget = () => {}
  const wakeHere: Wake = (kind) => {
    for (const worker of workers) worker.wake(kind)
    changes.notify()
  }
  notifications.onNotified('work', () => wakeHere())
  notifications.onNotified('changed', () => {
    forget()
    // A resume, or a new version, makes what has waited due.
    wakeHere()
  })
  return {
    wake(kind) {
      wakeHere(kind)
      notifications.hint('work')
    },
    forget() {
      forget()
      // Without it, the other hosts see the change within a second.
      notifications.hint('changed')
    },
    changes,
    begin: (worker) => void workers.push(worker),
    beginReading(begun) {
      forget = begun
    },
  }
}
