import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import type { Annex, Json } from '../support/annex.ts'
import { startWithPackages } from './start-with-packages.ts'

const script = `
import { createIntegration } from '@annex/runtime'
import { createClient } from '@supabase/supabase-js'

const asks = {
  select: (client) => client.from('pages').select('id, title').eq('space', 'a b').order('id').limit(2),
  insert: (client) => client.from('pages').insert({ title: 'Ünï' }).select().single(),
  missing: (client) => client.from('nowhere').select(),
  rpc: (client) => client.rpc('add', { a: 1, b: 2 }),
  invoke: (client) => client.functions.invoke('hello', { body: { name: 'Ada' } }),
  upload: (client) => client.storage.from('files').upload('a.txt', new Blob(['héllo'], { type: 'text/plain' })),
  signIn: async (client) => {
    const { data, error } = await client.auth.signInWithPassword({ email: 'ada@example.com', password: 'x' })
    return { data: data.user?.email, error, page: (await client.from('pages').select('id, title')).data }
  },
  listen: async (client) => {
    const states = []
    await new Promise((resolve) => client.channel('room').subscribe((state) => { states.push(state); resolve() }))
    await client.removeAllChannels()
    return { data: states[0], error: null }
  },
}
export default createIntegration({
  fetch: async (request) => {
    const { at, what } = await request.json()
    const client = createClient(at, 'anon-key', { auth: { persistSession: false, autoRefreshToken: false } })
    try {
      const { data, error, page } = await asks[what](client)
      return Response.json({ data, code: error?.code, page })
    } catch (error) {
      return Response.json({ thrown: error.message })
    }
  },
})`

type Seen = { method: string; url: string; token: string; body: string }

describe('@supabase/supabase-js in a sandbox', () => {
  let annex: Annex
  let at: string
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    const one = { method, url, token: headers.authorization ?? '', body: await text(request) }
    seen.push(one)
    const [status, body] = answer(one)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    annex = await startWithPackages({ supabase: { script, packages: ['@supabase/supabase-js'] } })
  })
  after(async () => {
    server.close()
    server.closeAllConnections()
    await annex.close()
  })
  const ask = async (what: string): Promise<Json> => {
    const response = await fetch(`${annex.url}/x/supabase`, {
      method: 'POST',
      body: JSON.stringify({ at, what }),
    })
    return response.json()
  }

  it('selects, inserts and calls functions of the database', async () => {
    assert.deepEqual(await ask('select'), { data: [{ id: 1, title: 'Bearer anon-key' }] })
    assert.equal(seen.at(-1)?.url, '/rest/v1/pages?select=id%2Ctitle&space=eq.a+b&order=id.asc&limit=2')
    assert.deepEqual(await ask('insert'), { data: { id: 2, title: 'Ünï' } })
    assert.deepEqual(await ask('rpc'), { data: 3 })
  })

  it('returns the error code of the server', async () => {
    assert.deepEqual(await ask('missing'), { data: null, code: 'PGRST205' })
  })

  it('calls functions and stores files', async () => {
    assert.deepEqual(await ask('invoke'), { data: { hello: 'Ada' } })
    assert.deepEqual((await ask('upload')).data.path, 'a.txt')
    assert.match(seen.at(-1)?.body ?? '', /héllo/)
  })

  it('signs in, and then uses the new token', async () => {
    const { data, page } = await ask('signIn')
    assert.equal(data, 'ada@example.com')
    assert.deepEqual(page, [{ id: 1, title: 'Bearer access' }])
  })

  it('reports a missing realtime connection', async () => {
    const { data, thrown } = await ask('listen')
    assert.match(data ?? thrown, /CHANNEL_ERROR|TIMED_OUT|WebSocket/)
  })
})

function answer({ url, body, token }: Seen): [number, unknown] {
  const { pathname } = new URL(url, 'http://localhost')
  if (pathname === '/rest/v1/rpc/add') return [200, JSON.parse(body).a + JSON.parse(body).b]
  if (pathname === '/rest/v1/nowhere') return [404, { code: 'PGRST205', message: 'no such table' }]
  if (pathname === '/rest/v1/pages')
    return body === '' ? [200, [{ id: 1, title: token }]] : [201, { id: 2, ...JSON.parse(body) }]
  if (pathname === '/functions/v1/hello') return [200, { hello: JSON.parse(body).name }]
  if (pathname.startsWith('/storage/v1/object/')) return [200, { Id: 'one', Key: 'files/a.txt' }]
  const user = {
    id: 'u1',
    email: 'ada@example.com',
    aud: 'authenticated',
    created_at: '2026-01-01T00:00:00Z',
  }
  const session = {
    access_token: 'access',
    refresh_token: 'refresh',
    token_type: 'bearer',
    expires_in: 3600,
    user,
  }
  return [200, session]
}
