import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DispatchResult } from '../../runtime/bridge.ts'
import { createGuest, createPlatform, type Guest, modes, scriptOf } from './guest.ts'

const platform = await createPlatform()
const request = { method: 'GET', url: 'https://a.example/x', headers: [['x-a', '1']] as [string, string][] }
const raw = (dispatch: string) => `module.exports = { [Symbol.for('annex.dispatch')]: ${dispatch} }`

const withGuest = async <T>(script: string, use: (guest: Guest) => Promise<T>): Promise<T> => {
  const guest = createGuest({ platform, mode: 'snapshot', script })
  try {
    return await use(guest)
  } finally {
    guest.close()
  }
}

const errorOf = (result: DispatchResult) => {
  assert.equal(result.kind, 'error')
  return result.kind === 'error' ? result.error : assert.fail()
}

for (const mode of modes) {
  describe(`dispatching, from ${mode}`, () => {
    test('a request reaches the script, and its response comes back with bytes and repeated headers', async () => {
      const script =
        raw(`async (event, environment, request) => new Response(request.body.constructor.name + ' ' + request.headers.get('x-a') + ' ' + await request.text() + ' ' + environment().n,
        { status: 404, statusText: 'Nope', headers: [['Set-Cookie', 'a=1'], ['set-cookie', 'b=2'], ['x-b', 'c']] })`)
      const guest = createGuest({ platform, mode, script })
      const { result, text } = await guest.dispatch(
        { event: { type: 'fetch' }, environment: { n: 7 }, request: { ...request, method: 'POST' } },
        'body ☃',
      )
      assert.equal(text, 'ReadableStream 1 body ☃ 7')
      assert.deepEqual(result, {
        kind: 'response',
        head: {
          status: 404,
          statusText: 'Nope',
          headers: [
            ['set-cookie', 'a=1'],
            ['set-cookie', 'b=2'],
            ['x-b', 'c'],
            ['content-type', 'text/plain;charset=UTF-8'],
          ],
        },
      })
      await guest.done(1)
      guest.close()
    })

    test('forbidden globals are gone', async () => {
      const guest = createGuest({
        platform,
        mode,
        script:
          scriptOf(`const makers = [function () {}, async () => {}, function* () {}, async function* () {}].map((f) => f.constructor)
          return [['eval', 'SharedArrayBuffer', 'Atomics', 'WebAssembly', '__annexBoot', 'process', 'require'].filter((name) => name in globalThis),
            makers.map((make) => { try { make('return 1'); return 'made' } catch (e) { return e.name } }),
            (() => { try { new Function('return 1') } catch (e) { return e.message } })(), (() => {}) instanceof Function]`),
      })
      const { result } = await guest.dispatch({})
      assert.deepEqual(result, {
        kind: 'value',
        value: [[], Array(4).fill('EvalError'), 'Function: code cannot be made from text in a sandbox', true],
      })
      guest.close()
    })
  })
}

test('the head of a request arrives whole, although a script patched built-ins', async () => {
  const script = raw(`(event, environment, request) =>
    Response.json([event.type, request.method, request.url, [...request.headers], request.headers.get('x-b')])`)
  const hostile = `for (const name of ['indexOf', 'slice', 'split', 'substring']) String.prototype[name] = () => 'patched'
    Function.prototype.call = () => 'patched'
    ${script}`
  const url = 'https://a.example/x?y={"z"}'
  for (const code of [script, hostile]) {
    await withGuest(code, async (guest) => {
      const head = ['PUT', url, 'x-b', '1: \u00fc', 'a', '{', 'x-b', '2'].join('\n')
      const pairs = [
        ['a', '{'],
        ['x-b', '1: \u00fc, 2'],
      ]
      assert.deepEqual(JSON.parse((await guest.dispatch(head)).text), [
        ...['fetch', 'PUT', url, pairs],
        '1: \u00fc, 2',
      ])
      const bare = await guest.dispatch('GET\nhttps://a.example/')
      assert.deepEqual(JSON.parse(bare.text), ['fetch', 'GET', 'https://a.example/', [], null])
    })
  }
})

test('a stream as the body is read to its end before the answer', async () => {
  const script = raw(`async () => new Response(new ReadableStream({ async pull(c) { this.n = (this.n ?? 0) + 1
    await new Promise((r) => setTimeout(r, 1)); if (this.n > 3) c.close(); else c.enqueue(new TextEncoder().encode('n' + this.n)) } }))`)
  await withGuest(script, async (guest) => {
    assert.equal((await guest.dispatch({ event: { type: 'fetch' }, request })).text, 'n1n2n3')
  })
})

test('a failed stream is an error of the dispatch', async () => {
  const script = raw(
    `async () => new Response(new ReadableStream({ pull() { throw new RangeError('broken stream') } }))`,
  )
  await withGuest(script, async (guest) => {
    const { result } = await guest.dispatch({ event: { type: 'fetch' }, request })
    assert.equal(errorOf(result).message, 'broken stream')
  })
})

test('a fetch handler without a Response gets an error with its result', async () => {
  const wrong: [string, RegExp][] = [
    ['undefined', /undefined/],
    ['null', /null/],
    ['{ status: 200 }', /an object/],
    ['"text"', /a string/],
    ['[1]', /an array/],
    ['7', /a number/],
  ]
  for (const [value, pattern] of wrong) {
    await withGuest(raw(`async () => (${value})`), async (guest) => {
      const error = errorOf((await guest.dispatch({ event: { type: 'fetch' }, request })).result)
      assert.equal(error.name, 'TypeError')
      assert.match(error.message, /must return a Response/)
      assert.match(error.message, pattern)
    })
  }
})

test('a used response and Response.error() are errors of the dispatch', async () => {
  const used = raw(`async () => { const r = new Response('x'); await r.text(); return r }`)
  await withGuest(used, async (guest) => {
    const error = errorOf((await guest.dispatch({ event: { type: 'fetch' }, request })).result)
    assert.match(error.message, /already been read/)
  })
  await withGuest(raw('async () => Response.error()'), async (guest) => {
    const error = errorOf((await guest.dispatch({ event: { type: 'fetch' }, request })).result)
    assert.match(error.message, /Response\.error/)
  })
})

test('an error has name, message and a stack with lines of the script', async () => {
  const script = raw(`async () => {
    const inner = () => { throw new RangeError('too far', { cause: new Error('the root') }) }
    inner()
  }`)
  await withGuest(script, async (guest) => {
    const error = errorOf((await guest.dispatch({})).result)
    assert.equal(error.name, 'RangeError')
    assert.equal(error.message, 'too far')
    assert.match(error.stack ?? '', /inner \(annex:script:2:/)
    assert.match(error.stack ?? '', /caused by: Error: the root/)
    assert.equal(error.exposeCode, undefined)
    assert.doesNotMatch(error.stack ?? '', /file:|node_modules/)
  })
})

test('a bundle that throws or exports no integration is refused with the next step', () => {
  const load = (script: string) => createGuest({ platform, mode: 'snapshot', script })
  assert.throws(() => load('module.exports = {}'), /export default createIntegration/)
  assert.throws(() => load('module.exports = null'), /export default createIntegration/)
  assert.throws(
    () => load('\nthrow new RangeError("at load")'),
    (error: Error) => {
      assert.equal(error.message, 'RangeError: at load')
      assert.match(error.stack ?? '', /annex:script:2/)
      return true
    },
  )
  const hostile = 'throw { get name() { throw 1 }, get message() { throw 2 }, get stack() { throw 3 } }'
  assert.throws(() => load(hostile), /threw \{ name: \[Getter\], message: \[Getter\], stack: \[Getter\] \}/)
})

test('done follows the answer and all waitUntil promises', async () => {
  const script = raw(`async (event, environment, request, host) => {
    host.waitUntil(new Promise((r) => setTimeout(r, 30))); host.waitUntil(Promise.reject(new Error('in the background'))); host.waitUntil('no promise')
    return { value: 1 }
  }`)
  await withGuest(script, async (guest) => {
    await guest.dispatch({})
    assert.equal(
      guest.posts.some((post) => post.kind === 'done'),
      false,
    )
    await guest.done(1)
    assert.deepEqual(
      guest.posts.filter((post) => post.kind === 'done'),
      [{ kind: 'done', id: 1, number: 0 }],
    )
    assert.match(guest.logs[0]?.text ?? '', /waitUntil was rejected: Error: in the background/)
    assert.equal(guest.logs[0]?.dispatch, 1)
  })
})

test('done waits for the answer if waitUntil promises settle first', async () => {
  const script = raw(
    `async (event, environment, request, host) => { host.waitUntil(Promise.resolve()); await new Promise((r) => setTimeout(r, 20)); return { value: 1 } }`,
  )
  await withGuest(script, async (guest) => {
    await guest.dispatch({})
    await guest.done(1)
    const ends = guest.posts.filter((post) => post.kind === 'answer' || post.kind === 'done')
    assert.deepEqual(ends, [{ kind: 'answer', id: 1, result: { kind: 'value', value: 1 }, done: true }])
  })
})

test('log lines, calls and timers belong to their dispatch, also after an await', async () => {
  const script = raw(`async (event, environment, request, host) => {
    console.log('start', event.n); await new Promise((r) => setTimeout(r, 100 * event.n)); console.log('after timer', event.n)
    await host.call('thing', { n: event.n }); console.log('after call', event.n)
  }`)
  const guest = createGuest({ platform, mode: 'snapshot', script, serve: { thing: () => ({ value: 1 }) } })
  await Promise.all([2, 1].map((n) => guest.dispatch({ event: { type: 'x', n } })))
  const seen = guest.logs.map(({ dispatch, text }) => [dispatch, text])
  assert.deepEqual(
    seen.filter(([dispatch]) => dispatch === 1).map(([, text]) => text),
    ['start 2', 'after timer 2', 'after call 2'],
  )
  assert.deepEqual(
    seen.filter(([dispatch]) => dispatch === 2).map(([, text]) => text),
    ['start 1', 'after timer 1', 'after call 1'],
  )
  const calls = guest.posts.flatMap((post) => (post.kind === 'call' ? [JSON.stringify(post.args)] : []))
  assert.deepEqual(calls.toSorted(), ['{"n":1}', '{"n":2}'])
  guest.close()
})

test('an error in a timer is logged, and the sandbox continues', async () => {
  const script = scriptOf(
    `setTimeout(() => { throw new Error('late') }, 0); await new Promise((r) => setTimeout(r, 10)); return 1`,
  )
  await withGuest(script, async (guest) => {
    assert.deepEqual((await guest.dispatch({})).result, { kind: 'value', value: 1 })
    assert.match(guest.logs[0]?.text ?? '', /Uncaught Error: late/)
    assert.deepEqual(guest.failures, [])
  })
})

test('a rejected call is an Error with the message of the host', async () => {
  const script = raw(
    `async (event, environment, request, host) => { try { await host.call('task', {}) } catch (e) { return { value: [e.name, e.message] } } }`,
  )
  const serve = {
    task: () => {
      throw new Error('no such task')
    },
  }
  const guest = createGuest({ platform, mode: 'snapshot', script, serve })
  assert.deepEqual((await guest.dispatch({})).result, { kind: 'value', value: ['Error', 'no such task'] })
  guest.close()
})

test('an unhandled rejection is thrown by receive, and stops no dispatch', async () => {
  const script = raw(
    `async (event) => { if (event.type === 'float') Promise.reject(new Error('floating')); await null; return { value: event.type } }`,
  )
  await withGuest(script, async (guest) => {
    assert.deepEqual((await guest.dispatch({ event: { type: 'float' } })).result, {
      kind: 'value',
      value: 'float',
    })
    // isolated-vm throws it from applySync after the microtasks ran: the caller must not count it as a crash.
    assert.deepEqual(
      guest.failures.map(({ message }) => message),
      ['floating'],
    )
    assert.deepEqual((await guest.dispatch({ event: { type: 'next' } })).result, {
      kind: 'value',
      value: 'next',
    })
    await Promise.all([guest.done(1), guest.done(2)])
  })
})
