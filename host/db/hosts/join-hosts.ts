import { createId } from '../ids.ts'
import { type Database, openPostgres } from '../open-database.ts'
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
 * nobody else. It says so on a connection of its own: one that has to wait until somebody is done with theirs would be taken
 * for dead by the others while it works most. That for notifications would not do, as it is made again with growing pauses.
 *
 * @param given.place names the data folder that this host owns, and no other host (`placeOf`)
 * @param given.onBeat the database's clock, in Unix ms
 */
export async function joinHosts(
  { db, dialect, url }: Pick<Database, 'db' | 'dialect' | 'url'>,
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
  // Pipelined, it could not be ended before all that was asked is answered.
  const own = await openPostgres(url, 1, { pipeline: false })
  try {
    await beatHost(own, host)
  } catch (error) {
    await own.destroy()
    throw error
  }
  let beating = Promise.resolve()
  let striking: Promise<void> | undefined
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
      await striking
      // Where that fails, the others notice by its silence.
      await removeHost(own, host.id).catch(given.onDefect)
      await own.destroy()
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
    const nowMs = await beatHost(own, host)
    // The database looked at its clock about half way between question and answer.
    given.onBeat?.(nowMs + (performance.now() - askedAt) / 2)
    if (takeOver === undefined) return
    const others = (await listHosts(own)).filter(({ id }) => id !== host.id)
    const silent = silence.find(others, performance.now())
    // Not awaited: the next beat must not wait for it.
    striking ??= strike(silent, takeOver)
      .catch(given.onDefect)
      .finally(() => {
        striking = undefined
      })
  }

  /** In this order: whoever is killed in between leaves the rest to the others. */
  async function strike(hosts: readonly HostRow[], run: TakeOver): Promise<void> {
    if (hosts.length === 0) return
    await run(hosts.map(({ id }) => id))
    await strikeHosts(db, hosts)
  }
}
