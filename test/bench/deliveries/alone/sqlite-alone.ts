import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { AloneStore } from './store-alone.ts'
import { answer, requestHeaders, tables } from './tables.ts'

export function openSqliteAlone(dataDir: string): AloneStore {
  const db = new DatabaseSync(join(dataDir, 'alone.sqlite'))
  db.exec(`pragma journal_mode = wal; pragma synchronous = full; ${tables}`)
  const body = db.prepare('insert into bodies values (?, ?) on conflict do nothing')
  const delivery = db.prepare(`insert into deliveries values (?, ?, ?, 'pending', null)`)
  const attempt = db.prepare('insert into attempts values (?, ?, ?, ?, ?, ?, ?)')
  const settle = db.prepare(`update deliveries set state = 'delivered', settled_at = ? where id = ?`)
  return {
    about: 'node:sqlite with synchronous = full, in groups',
    async commit(owed, ended) {
      db.exec('begin immediate')
      for (const { deliveryId, eventId, url, body: text } of owed) {
        body.run(eventId, text)
        delivery.run(deliveryId, eventId, url)
      }
      for (const { id, deliveryId, status, startedAt, durationMs } of ended) {
        attempt.run(id, deliveryId, status, startedAt, durationMs, requestHeaders, answer)
        settle.run(startedAt + durationMs, deliveryId)
      }
      db.exec('commit')
    },
    close: async () => db.close(),
  }
}
