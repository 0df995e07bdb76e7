import type { Notifications } from '../db/notifications.ts'
import type { Wake, Worker } from '../queue/worker.ts'
import { type Changes, createChanges } from '../webhooks/follow-deliveries.ts'

/** Passes on changes, in this host and to the hosts that share its database. */
export type Notifier = {
  /** There is work: wakes the workers and the readers of the feed. */
  wake: Wake
  /** Records have changed: drops cached reads. */
  forget: () => void
  /** For readers of the feed. */
  changes: Changes
  onWork: (worker: Worker) => void
  /** `forget` drops records that this host has cached. */
  onChange: (forget: () => void) => void
}

export function createNotifier(notifications: Notifications): Notifier {
  const changes = createChanges()
  const workers: Worker[] = []
  const caches: (() => void)[] = []
  const forgetHere = () => {
    for (const forget of caches) forget()
  }
  const wakeHere: Wake = (kind) => {
    for (const worker of workers) worker.wake(kind)
    changes.notify()
  }
  notifications.onNotified('work', () => wakeHere())
  notifications.onNotified('changed', () => {
    forgetHere()
    // A resume, or a new version, makes waiting jobs due.
    wakeHere()
  })
  return {
    wake(kind) {
      wakeHere(kind)
      notifications.hint('work')
    },
    forget() {
      forgetHere()
      // The other hosts would see the change within a second without it.
      notifications.hint('changed')
    },
    changes,
    onWork: (worker) => void workers.push(worker),
    onChange: (forget) => void caches.push(forget),
  }
}
