import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { quote, toCurl, toExactCurl } from '../../host/console/app/deliveries/curl.ts'

/** Has a shell read the script, as from a paste. */
async function run(script: string, env: Record<string, string> = {}): Promise<string> {
  const shell = spawn('sh', { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] })
  shell.stdin.end(script)
  return text(shell.stdout)
}

const controls = Array.from({ length: 31 }, (_, at) => String.fromCharCode(at + 1)).join('')

describe('a text that is quoted for a POSIX shell', () => {
  const texts = {
    empty: '',
    plain: 'a b',
    'single quotes': `it's ''quoted''`,
    'double quotes': '"a" "$HOME" `id` $(id)',
    backslashes: '\\ \\n \\\\',
    'an exclamation mark': 'a!b !!',
    'line breaks': '\na\n\nb\n\n',
    'carriage returns': 'a\r\nb\r',
    'control characters': `a${controls}b\x7f\x85`,
    'the end of a paste': '\x1b[201~\nid\n',
    'a leading dash': '-rf',
    'a leading at sign': '@/etc/passwd',
    'a percent sign': '100 %s %d',
    'other scripts': 'שלום 日本 🙂',
    globs: '* ? [a-z] {a,b} ~',
  }
  for (const [name, given] of Object.entries(texts)) {
    it(`has ${name} as before`, async () => {
      assert.equal(await run(`printf '%s' ${quote(given)}`), given)
    })
  }

  it('holds no control character but line breaks', () => {
    assert.doesNotMatch(quote(`${controls}\x7f\x85`).replaceAll('\n', ''), /\p{Cc}/u)
  })
})

describe('a request as a curl command', () => {
  type Got = { url: string | undefined; method: string | undefined; headers: string[]; body: string }
  const got: Got[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { url, method, rawHeaders } = request
    got.push({ url, method, headers: rawHeaders, body: Buffer.concat(chunks).toString() })
    response.end('ok')
  })
  let origin = ''
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => server.close())

  async function send(given: { path?: string; headers?: [string, string][]; body?: string }, token = '') {
    const { path = '/hook', headers = [], body = '{}' } = given
    const command = toExactCurl({ url: origin + path, headers, body }).replace(
      'curl ',
      'curl --silent --noproxy "*" ',
    )
    await run(command, { ANNEX_TOKEN: token })
    const last = got.at(-1) ?? assert.fail('no request')
    const pairs = last.headers.flatMap((name, at) =>
      at % 2 === 0 ? [[name, last.headers[at + 1] ?? '']] : [],
    )
    return { ...last, pairs, header: (name: string) => pairs.find(([one]) => one === name)?.[1] }
  }

  it('sends the same address, headers and body, and no header of its own', async () => {
    const headers: [string, string][] = [
      ['Content-Type', 'application/json'],
      ['User-Agent', 'Annex/0.3'],
      ['X-Service-Signature', "t=1,v1=ab, it's"],
      ['X-Empty', ''],
    ]
    const body = `{"text":"it's\\n 🙂 $HOME @a","more":"'"}`
    const { method, url, pairs, ...sent } = await send({ path: '/a%20b?c=[1]&d={x,y}', headers, body })
    assert.deepEqual([method, url, sent.body], ['POST', '/a%20b?c=[1]&d={x,y}', body])
    const ofTransport = [
      ['Host', origin.slice('http://'.length)],
      ['Content-Length', String(Buffer.byteLength(body))],
    ]
    assert.deepEqual(pairs.toSorted(), [...headers, ...ofTransport].toSorted())
  })

  it('sends a body that begins with an at sign, an empty one, and one above the longest argument', async () => {
    for (const body of ['@/etc/hostname', '', 'a\n', `${"'x\n".repeat(100_000)}\n\n`]) {
      assert.equal((await send({ body })).body, body)
    }
  })

  it('sends each method, with a body and without one', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const body of [undefined, '', '{"a":1}']) {
        const command = toCurl({
          method,
          url: `${origin}/m`,
          headers: [['content-type', 'application/json']],
          body,
        })
        await run(command.replace('curl ', 'curl --silent --noproxy "*" '))
        assert.deepEqual([got.at(-1)?.method, got.at(-1)?.body], [method, body ?? ''])
      }
    }
  })

  it('has a variable in the place of a bearer token', async () => {
    const headers: [string, string][] = [['Authorization', 'Bearer annex_secret']]
    assert.doesNotMatch(toExactCurl({ url: origin, headers, body: '' }), /annex_secret/)
    assert.equal((await send({ headers }, 'annex_mine')).header('Authorization'), 'Bearer annex_mine')
  })
})
