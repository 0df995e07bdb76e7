import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGuest, createPlatform, run, type Serve, scriptOf } from './guest.ts'

const platform = await createPlatform()
type FetchArgs = { method: string; url: string; headers: [string, string][]; redirect: string }

const echo: Serve = {
  fetch: (args: FetchArgs, bytes) => ({
    value: {
      status: 201,
      statusText: 'Made',
      headers: [
        ['x-a', '1'],
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
      ],
      url: args.url,
      redirected: true,
    },
    bytes: new TextEncoder().encode(JSON.stringify({ args, body: new TextDecoder().decode(bytes) })).buffer,
  }),
}

test('fetch sends method, URL, headers, redirect mode and body', async () => {
  const answer = await run(
    platform,
    'snapshot',
    `const r = await fetch(new URL('https://example.com/a?b'), { method: 'post', body: 'hello ☃', headers: { 'X-Key': 'k' }, redirect: 'manual' })
     return r.json()`,
    echo,
  )
  assert.deepEqual(answer, {
    args: {
      method: 'POST',
      url: 'https://example.com/a?b',
      headers: [
        ['x-key', 'k'],
        ['content-type', 'text/plain;charset=UTF-8'],
      ],
      redirect: 'manual',
    },
    body: 'hello ☃',
  })
})

test('a fetched response has status, headers, URL, and immutable headers', async () => {
  const answer = await run(
    platform,
    'snapshot',
    `const r = await fetch('https://example.com/')
     let changed; try { r.headers.set('a', 'b') } catch (e) { changed = e.name }
     return [r.status, r.statusText, r.ok, r.url, r.redirected, r.headers.getSetCookie(), changed, new Headers(r.headers).get('x-a')]`,
    echo,
  )
  assert.deepEqual(answer, [
    201,
    'Made',
    true,
    'https://example.com/',
    true,
    ['a=1', 'b=2'],
    'TypeError',
    '1',
  ])
})

test('fetch sends bodies of every kind', async () => {
  const answer = await run(
    platform,
    'snapshot',
    `const send = async (body) => (await (await fetch('https://a', { method: 'POST', body })).json()).body
     const form = new FormData(); form.set('a', 'b')
     return [await send(new Uint8Array([104, 105])), await send(new Blob(['blob'])), await send(new URLSearchParams('a=ä')),
       await send(new ReadableStream({ start(c) { c.enqueue(new Uint8Array([120])); c.close() } })),
       (await send(form)).includes('name="a"'), await send(new Request('https://b', { method: 'POST', body: 'r' }).body)]`,
    echo,
  )
  assert.deepEqual(answer, ['hi', 'blob', 'a=%C3%A4', 'x', true, 'r'])
})

test('fetch rejects with a TypeError that says "fetch failed", and the cause', async () => {
  const serve: Serve = {
    fetch: () => {
      throw Object.assign(new Error('connect ECONNREFUSED'), { name: 'ConnectError' })
    },
  }
  const body = `try { await fetch('https://a') } catch (e) { return [e.name, e.message, e.cause.name, e.cause.message, e instanceof TypeError] }`
  assert.deepEqual(await run(platform, 'snapshot', body, serve), [
    'TypeError',
    'fetch failed: connect ECONNREFUSED',
    'ConnectError',
    'connect ECONNREFUSED',
    true,
  ])
})

test('fetch rejects an invalid URL without a host call', async () => {
  const body = `const out = []; for (const url of ['/x', 'https://u:p@a/', 5]) try { await fetch(url) } catch (e) { out.push(e.name) } return out`
  const serve: Serve = { fetch: () => assert.fail('the host was asked') }
  assert.deepEqual(await run(platform, 'snapshot', body, serve), ['TypeError', 'TypeError', 'TypeError'])
})

test('an aborted fetch rejects with the reason, and is aborted in the host', async () => {
  const script =
    scriptOf(`const c = new AbortController(); const p = fetch('https://a', { signal: c.signal }); setTimeout(() => c.abort('why'), 1)
    try { await p } catch (e) { return e }`)
  const guest = createGuest({
    platform,
    mode: 'snapshot',
    script,
    serve: { fetch: () => new Promise(() => {}) },
  })
  const { result } = await guest.dispatch({})
  assert.deepEqual(result, { kind: 'value', value: 'why' })
  const call = guest.posts.find((post) => post.kind === 'call')
  assert.deepEqual(
    guest.posts.find((post) => post.kind === 'abort'),
    { kind: 'abort', id: call?.id, number: 0 },
  )
  // A settlement that comes too late changes nothing.
  guest.receive('settle', call?.id ?? 0, 0, '{}')
  assert.deepEqual(guest.failures, [])
  guest.close()
})

test('a fetch with an aborted signal makes no host call', async () => {
  const body = `try { await fetch('https://a', { signal: AbortSignal.abort() }) } catch (e) { return e.name }`
  const serve: Serve = { fetch: () => assert.fail('the host was asked') }
  assert.equal(await run(platform, 'snapshot', body, serve), 'AbortError')
})
