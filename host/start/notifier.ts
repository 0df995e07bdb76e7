import type { Notifications } from '../db/notifications.ts'
import type { Database } from '../db/open-database.ts'
import type { Wake, Worker } from '../queue/worker.ts'
import { type Changes, createChanges } from '../webhooks/follow-deliveries.ts'

/** Passes on what commits announce, in this host and to the hosts that share its database. */
export type Notifier = {
  /** Drops cached records of all hosts. */
  forget: () => void
  /** For readers of the feed. */
  changes: Changes
  onWork: (worker: Worker) => void
  /** `forget` drops records that this host has cached. */
  onChange: (forget: () => void) => void
}

export function createNotifier({ onNews }: Pick<Database, 'onNews'>, notifications: Notifications): Notifier {
  const changes = createChanges()
  const workers: Worker[] = []
  const caches: (() => void)[] = []
  const wakeHere: Wake = (kind) => {
    for (const worker of workers) worker.wake(kind)
    changes.notify()
  }
  const changeHere = () => {
    for (const forget of caches) forget()
    // A resume, or a new version, makes waiting jobs due.
    wakeHere()
  }
  const forget = () => {
    changeHere()
    // The other hosts would see the change within a second without it.
    notifications.hint('changed')
  }
  notifications.onNotified('work', () => wakeHere())
  notifications.onNotified('changed', changeHere)
  onNews((news) => {
    if (news === 'changed') return forget()
    wakeHere(news === 'work' ? undefined : news)
    notifications.hint('work')
  })
  return {
    forget,
    changes,
    onWork: (worker) => void workers.push(worker),
    onChange: (drop) => void caches.push(drop),
  }
}
