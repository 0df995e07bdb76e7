import { createId } from './ids.ts'
import type { Database, Db } from './open-database.ts'
import {
  beatHost,
  findPredecessors,
  type HostRow,
  listHosts,
  removeHost,
  strikeHosts,
} from './queries/hosts.ts'
import { createSilence } from './silence.ts'

/** What this host is among those that share the database. */
export type Membership = {
  /** Of this run of the host; claims carry it. */
  id: string
  /** Takes this host off the list. Before that, it has given back what it had claimed. */
  close: () => Promise<void>
}

const beatMs = 1_000

/**
 * Puts this host on the list of those that share a PostgreSQL, says each second that it is alive, and strikes off those
 * that have been silent for 5 s. On SQLite there is nobody else.
 *
 * What ran in this data folder before is known to be gone, and is struck off at once: before this returns.
 *
 * @param given.place names the data folder that this host owns, and no other host (`placeOf`)
 * @param given.takeOver makes the claims of these hosts due again, in the transaction that strikes them off
 * @param given.onTakenOver it is committed: there is work
 * @param given.onBeat the database's clock, in Unix ms
 */
export async function joinHosts(
  { db, dialect }: Pick<Database, 'db' | 'dialect'>,
  given: {
    place: string
    version: string
    takeOver: (transaction: Db, hostIds: readonly string[]) => Promise<void>
    onTakenOver?: (hostIds: readonly string[]) => void
    onBeat?: (nowMs: number) => void
    onDefect: (error: unknown) => void
  },
): Promise<Membership> {
  const host = { id: createId('host'), place: given.place, version: given.version }
  if (dialect === 'sqlite') return { id: host.id, close: async () => {} }
  const silence = createSilence()
  let closed = false
  let timer: NodeJS.Timeout | undefined
  await beatHost(db, host)
  await strike(await findPredecessors(db, host))
  let beating = Promise.resolve()
  schedule()
  return {
    id: host.id,
    async close() {
      closed = true
      clearTimeout(timer)
      await beating
      // Where that fails, the others notice by its silence.
      await removeHost(db, host.id).catch(given.onDefect)
    },
  }

  function schedule(): void {
    timer = setTimeout(() => {
      beating = beat()
        .catch(given.onDefect)
        .then(() => {
          if (!closed) schedule()
        })
    }, beatMs)
  }

  async function beat(): Promise<void> {
    const askedAt = performance.now()
    const nowMs = await beatHost(db, host)
    // The database looked at its clock about half way between question and answer.
    given.onBeat?.(nowMs + (performance.now() - askedAt) / 2)
    const others = (await listHosts(db)).filter(({ id }) => id !== host.id)
    await strike(silence.find(others, performance.now()))
  }

  async function strike(hosts: readonly HostRow[]): Promise<void> {
    if (hosts.length === 0) return
    const struck = await db.transaction(async (transaction) => {
      const ids = await strikeHosts(transaction, hosts)
      if (ids.length > 0) await given.takeOver(transaction, ids)
      return ids
    })
    if (struck.length > 0) given.onTakenOver?.(struck)
  }
}
