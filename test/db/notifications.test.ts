// databases: PostgreSQL

import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { createNotifications } from '../../host/db/notifications.ts'
import { type Database, openDatabase } from '../../host/db/open-database.ts'
import { until } from '../support/annex.ts'
import { findPostgres, type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { noPostgres } from '../support/test-database.ts'

const bin = findPostgres()
const skip =
  noPostgres || (bin === undefined && 'no programs of PostgreSQL on this machine, to restart a server')

describe('notifications', { skip }, () => {
  let server: PostgresServer
  let database: Database
  beforeEach(async () => {
    server = await startPostgres(bin ?? '')
    database = await openDatabase(server.url, '/nowhere')
  })
  afterEach(async () => {
    await database.close()
    await server.close()
  })

  const listen = (broken: unknown[]) => {
    const notifications = createNotifications(database, { onBroken: (error) => broken.push(error) })
    const heard = { work: 0, changed: 0 }
    for (const channel of ['work', 'changed'] as const) {
      notifications.onNotified(channel, () => {
        heard[channel]++
      })
    }
    return { notifications, heard }
  }

  it('reach the other hosts at the commit, and continue after a restart of the server', async () => {
    const broken: unknown[] = []
    const [one, other] = [listen(broken), listen(broken)]
    const hears = (work: number) =>
      until(
        async () => ({ ...other.heard }),
        (heard) => heard.work >= work,
      )
    // Once for the connection itself: what was told before is lost.
    await hears(1)
    await until(
      async () => one.heard.work,
      (count) => count === 1,
    )
    await database.db.transaction(async (transaction) => {
      await one.notifications.notify(transaction, 'work')
      await one.notifications.notify(transaction, 'work')
      await other.notifications.notify(database.db, 'changed')
      await until(
        async () => one.heard.changed,
        (count) => count === 2,
      )
      assert.equal(other.heard.work, 1)
    })
    await hears(2)
    assert.deepEqual(
      [one.heard, other.heard],
      [
        { work: 1, changed: 2 },
        { work: 2, changed: 1 },
      ],
    )

    await server.stop()
    await until(
      async () => broken.length,
      (count) => count === 2,
    )
    await server.start()
    await hears(3)
    await one.notifications.notify(database.db, 'work')
    await hears(4)
    assert.equal(broken.length, 2, 'an outage is told once')
    await Promise.all([one.notifications.close(), other.notifications.close()])
  })

  it('end at once while the server is away', async () => {
    const { notifications, heard } = listen([])
    await until(
      async () => heard.work,
      (count) => count === 1,
    )
    await server.stop()
    await notifications.close()
    await server.start()
  })
})
