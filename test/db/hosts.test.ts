import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { joinHosts } from '../../host/db/hosts/join-hosts.ts'
import { type Database, openDatabase } from '../../host/db/open-database.ts'
import { listHosts, readClock, strikeHosts } from '../../host/db/queries/hosts.ts'
import { until } from '../support/annex.ts'
import { startNetwork } from '../support/network.ts'
import { createTestDatabase, noPostgres, type TestDatabase } from '../support/test-database.ts'

describe('hosts that share a database', { skip: noPostgres }, () => {
  let made: TestDatabase
  let database: Database
  /** With connections of its own, to see what the others do. */
  let watching: Database
  const taken: string[] = []
  beforeEach(async () => {
    taken.length = 0
    made = await createTestDatabase()
    database = await openDatabase(made.url, '/nowhere')
    watching = await openDatabase(made.url, '/nowhere')
  })
  afterEach(async () => {
    await database.close()
    await watching.close()
    await made.drop()
  })

  const join = async (place: string, onBeat?: (nowMs: number) => void) => {
    const onDefect = (error: unknown) => assert.fail(String(error))
    const host = await joinHosts(database, { place, version: '1.2.3', onDefect, ...(onBeat && { onBeat }) })
    await host.watch(async (ids) => void taken.push(...ids))
    return host
  }
  const insert = async (id: string, place: string) =>
    database
      .db('hosts')
      .insert({ id, place, version: '1', startedAt: 0, seenAt: await readClock(database.db) })
  const seenAt = async () => (await listHosts(watching.db))[0]?.seenAt ?? 0
  const beatsOn = async () => {
    const before = await seenAt()
    // Longer than one beat takes to come.
    for (let n = 0; n < 2; n += 1) {
      const last = await seenAt()
      await until(seenAt, (at) => at > last)
    }
    assert.ok((await seenAt()) > before)
  }
  const listed = async () => (await listHosts(database.db)).map(({ id }) => id).sort()

  it('are on the list while they run, by the clock of the database', async () => {
    const beats: number[] = []
    const host = await join('a', (nowMs) => beats.push(nowMs))
    const [row] = await listHosts(database.db)
    assert.deepEqual([row?.id, row?.place, row?.version], [host.id, 'a', '1.2.3'])
    await until(
      () => listHosts(database.db),
      ([later]) => later !== undefined && row !== undefined && later.seenAt > row.seenAt,
    )
    await until(
      async () => beats.length,
      (count) => count > 0,
    )
    assert.ok(Math.abs((beats[0] ?? 0) - (await readClock(database.db))) < 10_000)
    await host.close()
    assert.deepEqual(await listed(), [])
  })

  it('go on saying that they are alive while all other connections are in use', async () => {
    const host = await join('a')
    const held = await Promise.all(Array.from({ length: 10 }, () => database.db.transaction()))
    await beatsOn()
    await Promise.all(held.map((transaction) => transaction.rollback()))
    await host.close()
  })

  it('go on saying so while they take over, however long that takes', async () => {
    await insert('host_before', 'a')
    const onDefect = (error: unknown) => assert.fail(String(error))
    const host = await joinHosts(database, { place: 'b', version: '1', onDefect })
    const { promise: patience, resolve } = Promise.withResolvers<void>()
    const began = Promise.withResolvers<void>()
    await host.watch(() => {
      began.resolve()
      return patience
    })
    await began.promise
    await watching.db('hosts').where({ place: 'a' }).delete()
    await beatsOn()
    resolve()
    await host.close()
  })

  it('say so over another connection when nobody answers on theirs any more, and end that one', async () => {
    const network = await startNetwork(made.url)
    const errors: unknown[] = []
    const onDefect = (error: unknown) => void errors.push(error)
    const host = await joinHosts({ ...database, url: network.url }, { place: 'a', version: '1', onDefect })
    assert.equal(network.fallSilent(), 1)
    await beatsOn()
    assert.equal(network.givenUp(), 1)
    assert.equal(errors.length, 1)
    await host.close()
    assert.deepEqual(await listed(), [])
    await network.close()
  })

  it('take over from one that is silent, and from none that beats', async () => {
    await insert('host_dead', 'elsewhere')
    const hosts = await Promise.all([join('a'), join('b')])
    const alive = hosts.map(({ id }) => id).sort()
    await until(listed, (ids) => ids.join() === alive.join())
    assert.deepEqual([...new Set(taken)], ['host_dead'])
    await Promise.all(hosts.map(({ close }) => close()))
  })

  it('take over at once from the one that ran in their data folder before', async () => {
    await insert('host_before', 'a')
    await insert('host_elsewhere', 'b')
    const host = await join('a')
    assert.deepEqual(taken, ['host_before'])
    assert.deepEqual(await listed(), [host.id, 'host_elsewhere'].sort())
    await host.close()
  })

  it('strike nobody off who has been seen meanwhile', async () => {
    await insert('host_alive', 'a')
    const [row] = await listHosts(database.db)
    assert.ok(row)
    await strikeHosts(database.db, [{ ...row, seenAt: row.seenAt - 1 }])
    assert.deepEqual(await listed(), ['host_alive'])
    await strikeHosts(database.db, [row])
    assert.deepEqual(await listed(), [])
  })
})
