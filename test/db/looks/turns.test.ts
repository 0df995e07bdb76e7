import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { lookOn } from '../../../host/db/looks/look-on.ts'
import { inTurn } from '../../../host/db/looks/turns.ts'
import { isPostgres } from '../../../host/db/sql.ts'
import { openSeeded } from '../../support/seeded-database.ts'

describe('turns', () => {
  it('are for one line after the other, and for a second of the same where no other waits', async (t) => {
    const { db, close } = await openSeeded()
    t.after(close)
    const order: string[] = []
    const first = Promise.withResolvers<void>()
    const ask = (line: string, until?: Promise<void>) =>
      inTurn(db, { line }, async () => {
        order.push(line)
        await until
      })
    const asked = [ask('a', first.promise), ask('a', first.promise), ask('a'), ask('a'), ask('b'), ask('c')]
    asked.push(ask('b'), ask('a'))
    await setImmediate()
    assert.deepEqual(order, isPostgres(db) ? ['a', 'a'] : ['a'])
    first.resolve()
    await Promise.all(asked)
    assert.equal(order.join(' '), isPostgres(db) ? 'a a b a c b a a' : 'a a b c a b a a')
  })

  it('are none for whoever has left before, nor is the database asked for them', async () => {
    const { db, close } = await openSeeded()
    const turn = Promise.withResolvers<void>()
    const others = [1, 2].map(() => inTurn(db, { line: 'others' }, () => turn.promise))
    const gone = new AbortController()
    const looks: boolean[] = []
    const mine = lookOn(db, { line: 'mine', gone: gone.signal }, async () => {
      looks.push(gone.signal.aborted)
      return true
    })
    await setImmediate()
    gone.abort()
    await close()
    turn.resolve()
    await Promise.all([...others, mine])
    assert.deepEqual(looks, isPostgres(db) ? [] : [false], 'the first look of SQLite waits for nobody')
  })

  it('go on after one that fails', async (t) => {
    const { db, close } = await openSeeded()
    t.after(close)
    const fail = () => inTurn(db, { line: 'a' }, () => Promise.reject(new Error('read nothing')))
    for (let n = 0; n < 3; n += 1) await assert.rejects(fail, /read nothing/)
    assert.equal(await inTurn(db, { line: 'b' }, async () => 'read'), 'read')
  })
})
