import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import Koa from 'koa'
import { answerErrors, identifyRequests } from '../../host/http/answer-errors.ts'
import { assertSendable } from '../../host/http/endpoint-headers.ts'
import type { Json } from '../support/annex.ts'

describe('an answer', () => {
  it('that cannot become JSON is a defect, answered as any other', async (t) => {
    const defects: unknown[] = []
    const app = new Koa()
    app.use(identifyRequests).use(answerErrors((error) => defects.push(error)))
    app.use((context) => {
      context.body = context.path === '/broken' ? { items: [1n] } : { items: [] }
    })
    const server = app.listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const response = await fetch(`${origin}/broken`, { headers: { connection: 'close' } })
    assert.equal(response.status, 500)
    assert.match(response.headers.get('content-type') ?? '', /json/)
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(((await response.json()) as Json).error.code, 'internal')
    assert.equal(defects.length, 1)
    const fine = await fetch(origin, { headers: { connection: 'close' } })
    assert.deepEqual([fine.status, await fine.json()], [200, { items: [] }])
  })

  it('of a script with a head that HTTP cannot carry is the script’s failure', () => {
    for (const [statusText, headers] of [
      ['a\r\nb', []],
      ['a\u0100', []],
      [undefined, [['not a name', 'x']]],
      [
        undefined,
        [
          ['x-fine', 'x'],
          ['x-split', 'a\r\nset-cookie: b'],
        ],
      ],
      ['', [['x-wide', '\u0100']]],
    ] as [string | undefined, [string, string][]][]) {
      assert.throws(() => assertSendable(statusText, headers), {
        code: 'script_failed',
        message: /cannot be sent/,
      })
    }
    assertSendable('Fine', [['x-fine', 'yes']])
  })
})
