// Each case is one line, so that it reads as a table.
// biome-ignore-all format: a case to a line
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'

const echo = (who: string) => `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request) => Response.json({ who: '${who}', path: new URL(request.url).pathname, cookie: request.headers.get('cookie'), body: await request.text() }),
})`

const smuggled = (head: string): string => `${head}\r\n\r\n0\r\n\r\nGET /x/three HTTP/1.1\r\nHost: h\r\n\r\n`
const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n${headers}\r\n`
const post = 'POST /x/one HTTP/1.1\r\nHost: h\r\n'

/** Bytes of a visitor, the statuses of all answers, what must be in them, and what must not. */
const cases: [name: string, bytes: string, statuses: number[], there?: RegExp, absent?: RegExp][] = [
  ['HTTP/1.0 without a Host', `GET /x/one HTTP/1.0\r\n\r\n`, [200], /"who":"one","path":"\/x\/one"/],
  ['no Host', `GET /x/one HTTP/1.1\r\nConnection: close\r\n\r\n`, [400]],
  ['a whole URL', get('http://127.0.0.1/x/one/a?b=c'), [200], /"who":"one","path":"\/x\/one\/a"/],
  ['a whole URL of another host', get('http://evil.example/x/one'), [200], /"who":"one","path":"\/x\/one"/, /evil/],
  ['a whole URL with a user', get('http://a:b@h/x/one'), [200], /"who":"one"/],
  ['a URL of a file', get('file:///etc/passwd'), [404], undefined, /root:/],
  ['another host in the path', get('//evil.example/x/one'), [404]],
  ['dots that lead to another integration', get('/x/one/../two'), [404], undefined, /"who"/],
  ['encoded dots', get('/x/one/%2e%2e/two'), [404], undefined, /"who"/],
  ['half encoded dots at the end', get('/x/one/.%2E'), [404], undefined, /"who"/],
  ['one dot', get('/x/./one'), [404], undefined, /"who"/],
  ['dots in a name are no dots', get('/x/one/..a/b..'), [200], /"path":"\/x\/one\/\.\.a\/b\.\."/],
  ['dots and an encoded slash', get('/x/one/..%2ftwo'), [404], undefined, /"who"/],
  ['dots between encoded slashes', get('/x/one/a%2F..%2Ftwo'), [404], undefined, /"who"/],
  ['encoded dots and an encoded backslash', get('/x/one/%2e%2E%5Ctwo'), [404], undefined, /"who"/],
  ['dots and a backslash', get('/x/one/..\\two'), [404], undefined, /"who"/],
  ['one dot and an encoded backslash', get('/x/one/a%5c.'), [404], undefined, /"who"/],
  ['dots with a parameter', get('/x/one/..;/two'), [404], undefined, /"who"/],
  ['dots with a named parameter', get('/x/one/..;a=b/two'), [404], undefined, /"who"/],
  ['dots with an encoded parameter', get('/x/one/..%3b/two'), [404], undefined, /"who"/],
  ['dots, encoded twice', get('/x/one/%252e%252e%252ftwo'), [404], undefined, /"who"/],
  ['an encoded slash without dots', get('/x/one/a%2Fb%5c..c'), [200], /"path":"\/x\/one\/a%2Fb%5c\.\.c"/],
  ['a parameter without dots', get('/x/one/a;b=..c/d'), [200], /"who":"one"/],
  ['dots in the query', get('/x/one?a=/..%2ftwo'), [200], /"who":"one"/],
  ['an encoded slash', get('/x/one%2f..%2ftwo'), [404], undefined, /"who"/],
  ['a backslash', get('/x/one\\..\\two'), [404], undefined, /"who"/],
  ['an empty name', get('/x//two'), [404], undefined, /"who"/],
  ['a NUL, encoded', get('/x/one%00/two'), [404], undefined, /"who"/],
  ['a NUL', get('/x/one\0'), [400]],
  ['a name in capitals', get('/X/ONE'), [404]],
  ['dots to the API', get('/x/one/../../v1/orgs'), [404], undefined, /"who"|items/],
  ['an unknown installation', get('/x/one/inst_00000000-0000-0000-0000-000000000000'), [404], undefined, /"who"/],
  ['a fragment', get('/x/one#/x/two'), [200], /"who":"one"/],
  ['CONNECT', `CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: h\r\n\r\n`, []],
  ['a length and chunks', smuggled(`${post}Content-Length: 6\r\nTransfer-Encoding: chunked`), [400]],
  ['two lengths', `${post}Content-Length: 5\r\nContent-Length: 0\r\n\r\nhello${get('/x/two')}`, [400]],
  ['two encodings', smuggled(`${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity`), [400]],
  ['an unknown encoding', smuggled(`${post}Transfer-Encoding: xchunked`), [400]],
  ['a second encoding', smuggled(`${post}Transfer-Encoding: gzip, chunked`), [400], /bad_request/],
  ['a second encoding, on its own line', smuggled(`${post}Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked`), [400], /bad_request/],
  ['chunks of chunks', smuggled(`${post}Transfer-Encoding: chunked, chunked`), [400]],
  ['an empty encoding beside chunks', smuggled(`${post}Transfer-Encoding: , chunked`), [400], /bad_request/],
  ['chunks in HTTP/1.0', smuggled(`POST /x/one HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked`), [400], /bad_request/],
  ['an unsupported version', `GET /x/one HTTP/2.0\r\nHost: h\r\n\r\n`, [400]],
  ['two Hosts', `GET /x/one HTTP/1.1\r\nHost: h\r\nhost: evil.example\r\n\r\n${get('/x/three')}`, [400], /bad_request/],
  ['the same Host twice', `GET /x/one HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n`, [400], /bad_request/],
  ['two Hosts in one header', get('/x/one').replace('Host: h', 'Host: h, evil.example'), [400], /bad_request/],
  ['a Host with a path', get('/x/one').replace('Host: h', 'Host: h/x/two?'), [400], /bad_request/],
  ['a Host with a user', get('/x/one').replace('Host: h', 'Host: a@h'), [400], /bad_request/],
  ['two Hosts, to the API', `GET /healthz HTTP/1.1\r\nHost: h\r\nHost: evil.example\r\n\r\n`, [400], /bad_request/],
  ['a Host with a port', get('/x/one').replace('Host: h', 'Host: [::1]:80'), [200], /"who":"one"/],
  ['a space before the colon', smuggled(`${post}Transfer-Encoding : chunked`), [400]],
  ['a folded header', smuggled(`${post}X-A: b\r\n Transfer-Encoding: chunked`), [400]],
  ['only line feeds', `GET /x/one HTTP/1.1\nHost: h\n\n`, [400]],
  ['a negative chunk', `${post}Transfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n0\r\n\r\n`, [400]],
  ['a chunk of 2^68 bytes', `${post}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\nx\r\n0\r\n\r\n`, [400]],
  ['a chunk with a long extension', `${post}Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(30_000)}\r\nx\r\n0\r\n\r\n`, [413]],
  ['a negative length', `${post}Content-Length: -5\r\n\r\nhello`, [400]],
  ['a length with a sign', `${post}Content-Length: +5\r\n\r\nhello`, [400]],
  ['a length over every limit', `${post}Content-Length: 99999999999999999999\r\n\r\nhello`, [400]],
  ['a length over ours', `${post}Content-Length: 9999999999\r\n\r\nhello`, [413], /body_too_large/],
  ['a header of 70 kB', get('/x/one', `X-A: ${'b'.repeat(70_000)}\r\n`), [431]],
  ['3000 headers', get('/x/one', Array.from({ length: 3000 }, (_, n) => `x${n}: y\r\n`).join('')), [431]],
  ['a path of 70 kB', get(`/x/one/${'a'.repeat(70_000)}`), [431]],
  ['an unknown expectation', `${post}Connection: close\r\nExpect: boo\r\nContent-Length: 5\r\n\r\nhello`, [417]],
  ['names of prototypes', get('/x/one', '__proto__: x\r\nconstructor: y\r\ntoString: z\r\n'), [200], /"who":"one"/],
  ['the cookies of the console', get('/x/one', 'Cookie: annex_session=secret; a=b; Annex-x=secret; =annex_y=secret\r\nCookie: annex_z=secret\r\n'), [200], /"cookie":"a=b"/, /secret/],
  ['the cookies of the console, in a TRACE', `TRACE /x/one HTTP/1.1\r\nHost: h\r\nConnection: close\r\nCookie: annex_session=secret\r\n\r\n`, [200], undefined, /secret/],
]

describe('a visitor who breaks the rules of HTTP', { concurrency: 4 }, () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({ sandboxes: 'processes', plugins: { one: { script: echo('one') }, two: { script: echo('two') }, three: { script: echo('three') } } })
    for (const name of ['one', 'two']) assert.equal((await fetch(`${annex.url}/x/${name}`)).status, 200)
  })
  after(() => annex.close())

  const open = (bytes: string): Socket => {
    const socket = connect(Number(new URL(annex.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(bytes, 'latin1')
    return socket
  }

  /** All that comes back until the host closes the connection. */
  const answersTo = async (bytes: string): Promise<string> => {
    const socket = open(bytes).setEncoding('latin1').setTimeout(5_000, () => socket.destroy(new Error('left open')))
    let text = ''
    socket.on('data', (chunk) => { text += chunk })
    await new Promise((resolve) => socket.once('close', resolve))
    return text
  }

  for (const [name, bytes, statuses, there, absent] of cases) {
    it(`${name}: ${statuses.join() || 'no answer'}`, async () => {
      const text = await answersTo(bytes)
      assert.deepEqual([...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map((found) => Number(found[1])), statuses, text.slice(0, 500))
      if (there !== undefined) assert.match(text, there)
      if (absent !== undefined) assert.doesNotMatch(text, absent)
      assert.doesNotMatch(text, /node_modules|\.ts:|"who":"t/)
      assert.equal((await fetch(`${annex.url}/x/two`)).status, 200)
    })
  }

  it('reaches no script with the bytes after a refused request', async () => {
    assert.equal((await fetch(`${annex.url}/x/three`)).status, 200)
    const read = () => annex.api('GET', '/v1/receipts?integration=three')
    const { json } = await until(read, (answer) => answer.json.items.length > 0)
    assert.equal(json.items.length, 1, JSON.stringify(json.items))
  })

  it('delays no other request with 200 half-sent heads and bodies', async () => {
    const slow = Array.from({ length: 200 }, (_, n) => open(n % 2 === 0 ? 'GET /x/one HTTP/1.1\r\nHost: h\r\nX-' : `${post}Content-Length: 100\r\n\r\nx`))
    await new Promise((resolve) => setTimeout(resolve, 200))
    for (let request = 0; request < 20; request++) {
      const started = performance.now()
      const answer: Json = await (await fetch(`${annex.url}/x/one`)).json()
      assert.equal(answer.who, 'one')
      assert.ok(performance.now() - started < 20_000, `${performance.now() - started} ms`)
    }
    for (const socket of slow) socket.destroy()
    const logs = await annex.api('GET', '/v1/logs?integration=one')
    assert.deepEqual(logs.json.items, [], 'none of it is in the log of the integration')
  })
})
