import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Db } from './db.ts'
import type { Database } from './open-database.ts'

/** What hosts tell each other: there is work that is due; or a record has changed that others may have read. */
export type Channel = 'work' | 'changed'

const channels: readonly Channel[] = ['work', 'changed']

/**
 * Hints between hosts that share a PostgreSQL. A hint can be lost: a host that waits for one
 * also polls every few seconds.
 */
export type Notifications = {
  /** Tells the other hosts, when the transaction is committed; several times in one transaction is once. */
  notify: (transaction: Db, channel: Channel) => Promise<void>
  /** As `notify`, outside of a transaction, for what happens often: at most 20 times a second. What fails is let go. */
  hint: (channel: Channel) => void
  /** Called when another host has told something, and after a time in which a hint may have been lost. */
  onNotified: (channel: Channel, run: () => void) => void
  close: () => Promise<void>
}

const firstPauseMs = 100
const longestPauseMs = 5_000
const hintEveryMs = 50

/**
 * LISTEN on a separate connection, which is opened again, with growing pauses, whenever it breaks. SQLite has one host.
 *
 * @param given.onBroken the connection broke: told once, until it is there again
 */
export function createNotifications(
  { db, dialect, url }: Pick<Database, 'db' | 'dialect' | 'url'>,
  given: { onBroken: (error: unknown) => void },
): Notifications {
  const listeners = new Map<Channel, (() => void)[]>(channels.map((channel) => [channel, []]))
  const onNotified: Notifications['onNotified'] = (channel, run) => listeners.get(channel)?.push(run)
  if (dialect === 'sqlite') {
    return { notify: async () => {}, hint: () => {}, onNotified, close: async () => {} }
  }
  /** A host ignores its own hints. */
  const self = randomUUID()
  const closing = new AbortController()
  const hints = new Map<Channel, NodeJS.Timeout>()
  const ended = listen()
  return {
    notify,
    hint(channel) {
      if (hints.has(channel) || closing.signal.aborted) return
      const send = () => {
        hints.delete(channel)
        notify(db, channel).catch(() => {})
      }
      hints.set(channel, setTimeout(send, hintEveryMs))
    },
    onNotified,
    async close() {
      closing.abort()
      for (const timer of hints.values()) clearTimeout(timer)
      await ended
    },
  }

  async function notify(transaction: Db, channel: Channel): Promise<void> {
    await transaction.raw('select pg_notify(?, ?)', [toName(channel), self])
  }

  async function listen(): Promise<void> {
    let pauseMs = 0
    let isTold = false
    while (!closing.signal.aborted) {
      try {
        await listenOnce(() => {
          // What was told before this connection was there is lost.
          for (const channel of channels) tell(channel)
          pauseMs = 0
          isTold = false
        })
      } catch (error) {
        if (!isTold) given.onBroken(error)
        isTold = true
      }
      // Not all hosts in the same moment, when the server is there again.
      const waitMs = pauseMs * (0.5 + Math.random() / 2)
      await pause(waitMs, undefined, { signal: closing.signal }).catch(() => {})
      pauseMs = Math.min(Math.max(pauseMs * 2, firstPauseMs), longestPauseMs)
    }
  }

  /** @throws what broke the connection, unless that was `close` */
  async function listenOnce(onReady: () => void): Promise<void> {
    const { signal } = closing
    const { default: pg } = await import('pg')
    const client = new pg.Client({
      connectionString: url,
      application_name: 'annex notifications',
      connectionTimeoutMillis: longestPauseMs,
      // Nothing is sent on it for hours: what is between may forget it.
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    })
    const broken = Promise.withResolvers<void>()
    client.on('error', broken.reject)
    client.on('end', () => broken.reject(new Error('The server closed the connection for notifications.')))
    const onAbort = () => broken.resolve()
    signal.addEventListener('abort', onAbort)
    // Awaited below; until then a connection that breaks is no unhandled rejection.
    broken.promise.catch(() => {})
    client.on('notification', ({ channel, payload }) => {
      const known = channels.find((name) => toName(name) === channel)
      if (known !== undefined && payload !== self) tell(known)
    })
    try {
      await Promise.race([client.connect(), broken.promise])
      for (const channel of channels) {
        if (!signal.aborted) await Promise.race([client.query(`listen ${toName(channel)}`), broken.promise])
      }
      if (!signal.aborted) onReady()
      await broken.promise
    } finally {
      signal.removeEventListener('abort', onAbort)
      await client.end().catch(() => {})
    }
  }

  function tell(channel: Channel): void {
    for (const run of listeners.get(channel) ?? []) run()
  }
}

/** A database may be shared with others, and their channels with it. */
const toName = (channel: Channel): string => `annex_${channel}`
