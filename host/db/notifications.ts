import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Db } from './db.ts'
import type { Database } from './open-database.ts'

/** `work`: a job is due. `changed`: a record has changed that other hosts may have cached. */
export type Channel = 'work' | 'changed'

const channels: readonly Channel[] = ['work', 'changed']

/**
 * Hints between hosts that share a PostgreSQL. A hint can be lost, so hosts also poll every few seconds.
 */
export type Notifications = {
  /** Notifies the other hosts when the transaction is committed. Repeats in one transaction count once. */
  notify: (transaction: Db, channel: Channel) => Promise<void>
  /** As `notify` without a transaction, at most 20 times a second. Failed hints are dropped. */
  hint: (channel: Channel) => void
  /** Calls `run` for each hint of another host, and after each connection, as hints may have been lost. */
  onNotified: (channel: Channel, run: () => void) => void
  close: () => Promise<void>
}

const firstPauseMs = 100
const longestPauseMs = 5_000
const hintEveryMs = 50

/**
 * Runs LISTEN on a separate connection. A broken connection is opened again with growing pauses. SQLite has one host.
 *
 * @param given.onBroken called once for each outage of the connection
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
          // Hints that were sent before this connection listened are lost.
          for (const channel of channels) tell(channel)
          pauseMs = 0
          isTold = false
        })
      } catch (error) {
        if (!isTold) given.onBroken(error)
        isTold = true
      }
      // A random part keeps all hosts from reconnecting at the same moment.
      const waitMs = pauseMs * (0.5 + Math.random() / 2)
      await pause(waitMs, undefined, { signal: closing.signal }).catch(() => {})
      pauseMs = Math.min(Math.max(pauseMs * 2, firstPauseMs), longestPauseMs)
    }
  }

  /** @throws the error that broke the connection. Resolves after `close`. */
  async function listenOnce(onReady: () => void): Promise<void> {
    const { signal } = closing
    const { default: pg } = await import('pg')
    const client = new pg.Client({
      connectionString: url,
      application_name: 'annex notifications',
      connectionTimeoutMillis: longestPauseMs,
      // The connection may be idle for hours. Firewalls and NATs drop idle connections.
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    })
    const broken = Promise.withResolvers<void>()
    client.on('error', broken.reject)
    client.on('end', () => broken.reject(new Error('The server closed the connection for notifications.')))
    const onAbort = () => broken.resolve()
    signal.addEventListener('abort', onAbort)
    // The promise is awaited below. Until then a broken connection must not be an unhandled rejection.
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

/** Other programs may use the same database, and channels are global to it. */
const toName = (channel: Channel): string => `annex_${channel}`
