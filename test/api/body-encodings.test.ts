import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { loadApi } from '../../schemas/api.ts'
import { type Annex, installSample, type Json, startAnnex } from '../support/annex.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: (request, { environment }) => Response.json(
    request.url.endsWith('/tokens') ? { tokens: environment.apiTokens } : environment.installation.configuration,
  ),
})`
/** Together with what the script stores they are more than one body may have. */
const long = Array.from({ length: 4 }, (_, n) => `long_${n}`)
const text = (name: string) => `
        ${name}: { type: string, title: ${name}, description: A text. }`
const more = `configurations:
  account:
    properties:${['password', ...long].map(text).join('')}
`

describe('the body of a record or of settings', () => {
  let annex: Annex
  let path: string
  let endpoint: string
  let token: string
  before(async () => {
    annex = await startAnnex({ plugins: { stores: { script, more } } })
    ;({ path, endpoint } = await installSample(annex, 'stores'))
    token = readFileSync(join(annex.dataDir, 'cli.token'), 'utf8').trim()
  })
  after(() => annex.close())

  const put = async (
    body: Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; json: Json }> => {
    const response = await fetch(`${annex.url}${path}/configuration/password`, {
      method: 'PUT',
      body,
      headers: {
        authorization: `Bearer ${token}`,
        'if-match': '*',
        'content-type': 'application/json',
        ...headers,
      },
    })
    return { status: response.status, json: await response.json() }
  }
  const utf8 = (value: string) => new Uint8Array(Buffer.from(JSON.stringify({ value })))
  const bytes = (value: string) => new Uint8Array(Buffer.from(`{"value":"${value}"}`, 'latin1'))
  const stored = async () => ((await (await fetch(endpoint)).json()) as Json).password

  const broken: [name: string, value: string][] = [
    ['Latin-1', 'p\xe4ssword'],
    ['an overlong form', '\xc0\xae'],
    ['half of a surrogate pair', '\xed\xa0\x80'],
    ['a character that is cut off', 'a\xe2\x82'],
    ['a byte that begins none', '\x80'],
    ['more than Unicode has', '\xf4\x90\x80\x80'],
  ]
  for (const [name, value] of broken) {
    it(`is refused with 400 if it is not valid UTF-8: ${name}`, async () => {
      await put(utf8('before'))
      const { status, json } = await put(bytes(value))
      assert.deepEqual([status, json.error.code], [400, 'bad_request'])
      assert.match(json.error.message, /no UTF-8/)
      assert.equal(await stored(), 'before')
    })
  }

  it('is refused as UTF-16, with and without its byte order mark', async () => {
    for (const mark of ['', '\ufeff']) {
      const { status } = await put(new Uint8Array(Buffer.from(`${mark}{"value":"a"}`, 'utf16le')))
      assert.equal(status, 400)
    }
  })

  it('may begin with a byte order mark, and may contain any character', async () => {
    for (const value of ['with a mark', 'pässword 🗝 \ufffd \ufeff']) {
      assert.equal((await put(new Uint8Array(Buffer.from(`\ufeff${JSON.stringify({ value })}`)))).status, 200)
      assert.equal(await stored(), value)
    }
  })

  const encodings: [headers: Record<string, string>, status: number][] = [
    [{ 'content-encoding': 'gzip' }, 415],
    [{ 'content-encoding': 'br' }, 415],
    [{ 'content-encoding': 'identity, GZIP' }, 415],
    [{ 'content-type': 'application/json; charset=iso-8859-1' }, 415],
    [{ 'content-type': 'application/json;Charset="UTF-16"' }, 415],
    [{ 'content-encoding': 'Identity' }, 200],
    [{ 'content-type': 'application/json; charset=UTF-8' }, 200],
    [{ 'content-type': 'application/json; charset="utf8"' }, 200],
    [{ 'content-type': 'text/plain' }, 200],
  ]
  for (const [headers, status] of encodings) {
    it(`is answered with ${status} for ${JSON.stringify(headers)}`, async () => {
      const plain = utf8('plain')
      const body = headers['content-encoding'] === 'gzip' ? new Uint8Array(gzipSync(plain)) : plain
      const answer = await put(body, headers)
      assert.equal(answer.status, status)
      if (status === 415) assert.equal(answer.json.error.code, 'encoding_unsupported')
    })
  }

  it('has at most 64 KiB', async () => {
    const most = 64 * 1024
    const padded = (bytes: number) => {
      const plain = Buffer.from(JSON.stringify({ value: 'padded' }))
      return new Uint8Array(Buffer.concat([plain, Buffer.alloc(bytes - plain.length, ' ')]))
    }
    assert.equal((await put(padded(most))).status, 200)
    assert.equal((await put(padded(most + 1))).status, 413)
    const keys = Object.fromEntries(Array.from({ length: 90_000 }, (_, n) => [`k${n}`, 1]))
    assert.equal((await annex.api('PATCH', path, { configuration: keys })).status, 413)
    assert.equal(
      (await annex.api('POST', '/v1/orgs', { subdomain: 'a', title: 'x'.repeat(most) })).status,
      413,
    )
    const larger = loadApi().operations.filter(
      ({ body, maxBodyBytes }) => body !== undefined && maxBodyBytes > most,
    )
    const asked = ['Component', 'Revision', 'Document'].flatMap((what) =>
      ['', 'Site', 'Space'].map(
        (level) => `${what === 'Component' ? 'render' : 'compute'}${level}Installation${what}`,
      ),
    )
    assert.deepEqual(
      larger.map(({ id }) => id).toSorted(),
      [...asked, 'previewPage', 'publishEvent', 'putPage', 'queueIntegrationTask'].toSorted(),
    )
  })

  it('does not limit stored settings, which can be read, edited and removed beyond that size', async () => {
    const { installation } = ((await (await fetch(`${endpoint}/tokens`)).json()) as Json).tokens
    const own = await annex.api('PATCH', path, { configuration: { own: 'x'.repeat(60_000) } }, installation)
    assert.equal(own.status, 200, own.text)
    for (const name of long) {
      const value = 'x'.repeat(10_000)
      assert.equal((await annex.api('PUT', `${path}/configuration/${name}`, { value })).status, 200)
    }
    const read = await annex.api('GET', path, undefined, installation)
    assert.ok(JSON.stringify(read.json.configuration).length > 90_000)
    assert.equal((await annex.api('GET', path)).status, 200)
    assert.equal(((await (await fetch(endpoint)).json()) as Json).own.length, 60_000)
    const edited = await annex.api('PUT', `${path}/configuration/password`, { value: 'short' })
    assert.equal(edited.status, 200)
    for (const name of long) {
      assert.equal((await annex.api('DELETE', `${path}/configuration/${name}`)).status, 200)
    }
    assert.deepEqual((await annex.api('GET', path)).json.configuration, { password: 'short' })
  })
})
