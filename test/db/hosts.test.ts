import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { joinHosts } from '../../host/db/join-hosts.ts'
import { type Database, openDatabase } from '../../host/db/open-database.ts'
import { listHosts, readClock, strikeHosts } from '../../host/db/queries/hosts.ts'
import { until } from '../support/annex.ts'
import { createTestDatabase, noPostgres, type TestDatabase } from '../support/test-database.ts'

describe('hosts that share a database', { skip: noPostgres }, () => {
  let made: TestDatabase
  let database: Database
  beforeEach(async () => {
    made = await createTestDatabase()
    database = await openDatabase(made.url, '/nowhere')
  })
  afterEach(async () => {
    await database.close()
    await made.drop()
  })

  const taken: string[][] = []
  const join = (place: string, onBeat?: (nowMs: number) => void) =>
    joinHosts(database, {
      place,
      version: '1.2.3',
      ...(onBeat && { onBeat }),
      takeOver: async (transaction, ids) => {
        assert.equal((await transaction('hosts').whereIn('id', ids)).length, 0)
      },
      onTakenOver: (ids) => taken.push([...ids]),
      onDefect: (error) => assert.fail(String(error)),
    })
  const insert = async (id: string, place: string) =>
    database
      .db('hosts')
      .insert({ id, place, version: '1', startedAt: 0, seenAt: await readClock(database.db) })

  it('are on the list while they run, by the clock of the database', async () => {
    const beats: number[] = []
    const host = await join('a', (nowMs) => beats.push(nowMs))
    const [row] = await listHosts(database.db)
    assert.deepEqual([row?.id, row?.place, row?.version], [host.id, 'a', '1.2.3'])
    await until(
      () => listHosts(database.db),
      ([later]) => later !== undefined && row !== undefined && later.seenAt > row.seenAt,
    )
    assert.ok(Math.abs((beats[0] ?? 0) - (await readClock(database.db))) < 10_000)
    await host.close()
    assert.deepEqual(await listHosts(database.db), [])
  })

  it('take over from one that is silent, and from none that beats', async () => {
    taken.length = 0
    await insert('host_dead', 'elsewhere')
    const [first, second] = await Promise.all([join('a'), join('b')])
    await until(
      async () => taken,
      (all) => all.length > 0,
    )
    assert.deepEqual(taken, [['host_dead']])
    assert.deepEqual((await listHosts(database.db)).map(({ id }) => id).sort(), [first.id, second.id].sort())
    await Promise.all([first.close(), second.close()])
  })

  it('take over at once from the one that ran in their data folder before', async () => {
    taken.length = 0
    await insert('host_before', 'a')
    await insert('host_elsewhere', 'b')
    const host = await join('a')
    assert.deepEqual(taken, [['host_before']])
    await host.close()
  })

  it('strike nobody off who has been seen meanwhile, and each host once', async () => {
    await insert('host_alive', 'a')
    const [row] = await listHosts(database.db)
    assert.ok(row)
    assert.deepEqual(await strikeHosts(database.db, [{ ...row, seenAt: row.seenAt - 1 }]), [])
    const both = await Promise.all([strikeHosts(database.db, [row]), strikeHosts(database.db, [row])])
    assert.deepEqual(both.flat(), ['host_alive'])
  })
})
