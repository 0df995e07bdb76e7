import { createId } from '../ids.ts'
import type { Database } from '../open-database.ts'
import {
  beatHost,
  findPredecessors,
  type HostRow,
  listHosts,
  removeHost,
  strikeHosts,
} from '../queries/hosts.ts'
import { createSilence } from './silence.ts'

/** Makes what these hosts had claimed due again. It may be called for one host by several others at once. */
export type TakeOver = (hostIds: readonly string[]) => Promise<void>

/** What this host is among those that share the database. */
export type Membership = {
  /** Of this run of the host; claims carry it. */
  id: string
  /**
   * From now on, hosts that have been silent for 5 s are struck off, after what they had claimed is taken over. What
   * ran in this data folder before is known to be gone: that is done when this returns.
   */
  watch: (takeOver: TakeOver) => Promise<void>
  /** Takes this host off the list. Before that, it has given back what it had claimed. */
  close: () => Promise<void>
}

const beatMs = 1_000

/**
 * Puts this host on the list of those that share a PostgreSQL, and says each second that it is alive. On SQLite there is
 * nobody else.
 *
 * @param given.place names the data folder that this host owns, and no other host (`placeOf`)
 * @param given.onBeat the database's clock, in Unix ms
 */
export async function joinHosts(
  { db, dialect }: Pick<Database, 'db' | 'dialect'>,
  given: {
    place: string
    version: string
    onBeat?: (nowMs: number) => void
    onDefect: (error: unknown) => void
  },
): Promise<Membership> {
  const host = { id: createId('host'), place: given.place, version: given.version }
  if (dialect === 'sqlite') return { id: host.id, watch: async () => {}, close: async () => {} }
  const silence = createSilence()
  let takeOver: TakeOver | undefined
  let closed = false
  let timer: NodeJS.Timeout | undefined
  await beatHost(db, host)
  let beating = Promise.resolve()
  schedule()
  return {
    id: host.id,
    async watch(run) {
      await strike(await findPredecessors(db, host), run)
      takeOver = run
    },
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
    if (takeOver === undefined) return
    const others = (await listHosts(db)).filter(({ id }) => id !== host.id)
    await strike(silence.find(others, performance.now()), takeOver)
  }

  /** In this order: whoever is killed in between leaves the rest to the others. */
  async function strike(hosts: readonly HostRow[], run: TakeOver): Promise<void> {
    if (hosts.length === 0) return
    await run(hosts.map(({ id }) => id))
    await strikeHosts(db, hosts)
  }
}
