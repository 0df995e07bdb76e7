import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { assetsFolderOf, buildConsole, toBuildError } from '../../host/console/build.ts'
import { createConsole } from '../../host/console/files.ts'
import { type Annex, startAnnex } from '../support/annex.ts'

type Got = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer }

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

describe('the page and the files of the console', () => {
  let annex: Annex
  let script: string
  before(async () => {
    annex = await startAnnex()
    script = /src="([^"]+)"/.exec(String((await get('/', html)).body))?.[1] ?? ''
  })
  after(() => annex.close())

  /** Sends the path as it is written. `fetch` would shorten `..`. */
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<Got>((resolve, reject) => {
      httpRequest({ ...hostOf(annex.url), path, method, headers })
        .on('error', reject)
        .on('response', async (response) =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: await buffer(response),
          }),
        )
        .end()
    })

  it('has the policy of the console, exactly', async () => {
    const { status, headers, body } = await get('/', html)
    assert.equal(status, 200)
    assert.equal(headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(
      headers['content-security-policy'],
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self' https:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    )
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin')
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['cache-control'], 'no-cache')
    assert.equal(headers['set-cookie'], undefined)
    assert.doesNotMatch(String(body), /<style|style="|<script>| on\w+=|http:\/\/(?!www\.w3\.org)/)
  })

  const pages = [
    '/sign-in',
    '/orgs/acme',
    '/orgs/acme/deliveries?state=failed',
    '/no/such/page',
    '/versions',
    '/xy',
  ]
  for (const path of pages) {
    it(`answers a browser at ${path} with the page, and a program with 404`, async () => {
      const page = await get(path, html)
      assert.deepEqual([page.status, String(page.body).slice(0, 15)], [200, '<!doctype html>'])
      for (const accept of ['*/*', 'application/json', 'image/png', '']) {
        const { status, body } = await get(path, { accept })
        assert.deepEqual([status, JSON.parse(String(body)).error.code], [404, 'not_found'], accept)
      }
    })
  }

  const others = ['/v1', '/v1/none', '/x/none', '/assets/', '/assets', '/assets/none.js']
  for (const path of others) {
    it(`answers a browser at ${path} as a program`, async () => {
      const { status, headers } = await get(path, html)
      assert.equal(status, 404)
      assert.match(String(headers['content-type']), /json/)
      assert.notEqual(headers['cross-origin-opener-policy'], 'same-origin')
    })
  }

  it('leaves the other routes as they are, for a browser, too', async () => {
    for (const path of ['/healthz', '/readyz', '/openapi.json']) {
      assert.match(String((await get(path, html)).headers['content-type']), /json/, path)
    }
    assert.match(String((await get('/metrics', html)).headers['content-type']), /text\/plain/)
    assert.match(String((await get('/connect/none', html)).body), /The account was not connected/)
  })

  it('answers GET and HEAD only', async () => {
    const head = await get('/', html, 'HEAD')
    assert.deepEqual([head.status, head.body.length], [200, 0])
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      assert.equal((await get('/', html, method)).status, 404, method)
      assert.equal((await get(script, html, method)).status, 404, method)
    }
  })

  it('names the build in the ETag of the page, and answers 304 to a browser that has it', async () => {
    const { headers } = await get('/', html)
    const again = await get('/sign-in', { ...html, 'if-none-match': String(headers.etag) })
    assert.deepEqual([again.status, again.body.length], [304, 0])
    assert.equal(again.headers['content-security-policy'], headers['content-security-policy'])
  })

  it('sends each file in the encoding that the browser takes, for a year', async () => {
    const plain = await get(script)
    const encodings = [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const
    assert.deepEqual([plain.status, plain.headers['content-encoding']], [200, undefined])
    assert.match(String(plain.headers['content-type']), /^(text|application)\/javascript/)
    for (const [name, decode] of encodings) {
      const { headers, body } = await get(script, { 'accept-encoding': name })
      assert.equal(headers['content-encoding'], name)
      assert.match(String(headers.vary), /accept-encoding/i)
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.ok(decode(body).equals(plain.body) && body.length < plain.body.length)
    }
  })

  it('sends no file but its own', async () => {
    const name = script.slice('/assets/'.length)
    const paths = [
      ...['../index.json', '..%2findex.json', '%2e%2e/index.json', '.', '..', '%00', '%', ''],
      ...[`${name}.br`, `${name}.gz`, `./${name}`, `/${name}`, `${name}/`, `${name}%00`, name.toUpperCase()],
      ...['__proto__', 'constructor', '../../secret.key', '../../../annex.sqlite'],
    ]
    for (const path of paths) {
      const { status, body } = await get(`/assets/${path}`)
      assert.ok(status === 404 || status === 400, `${path}: ${status} ${body.subarray(0, 80)}`)
    }
  })

  it('weighs at most 60 KiB on the first page, in one script and one style', async () => {
    const page = String((await get('/', html)).body)
    const names = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '')
    assert.deepEqual(names.map((name) => name.split('.').at(-1)).sort(), ['css', 'js'])
    // The script is all that it needs: another file would be asked for only when this one is there.
    const own = String((await get(names.find((name) => name.endsWith('.js')) ?? '')).body)
    assert.doesNotMatch(own, /\bfrom"\.\/|\bimport"/)
    const sizes = await Promise.all(
      names.map(async (path) => (await get(path, { 'accept-encoding': 'br' })).body.length),
    )
    const sum = sizes.reduce((all, one) => all + one, 0)
    // The page of the first screen is loaded after these: the largest is below 10 KiB.
    assert.ok(sum < 50 * 1024, `${sum} bytes in ${names.length} files`)
  })
})

describe('a build of the console', () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-console-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('is made by the first request, once', async () => {
    const own = join(folder, 'own')
    const webConsole = createConsole(own)
    assert.throws(() => readdirSync(own))
    const [one, other] = await Promise.all([webConsole.load(), webConsole.load()])
    assert.equal(one, other)
  })

  it('is found again, and keeps files of the build before for a day', async () => {
    const cache = join(folder, 'cache')
    const assets = assetsFolderOf(cache)
    mkdirSync(assets, { recursive: true })
    const hours = (file: string, count: number) => {
      const at = new Date(Date.now() - count * 60 * 60 * 1000)
      writeFileSync(join(assets, file), 'x')
      utimesSync(join(assets, file), at, at)
    }
    hours('before-AAAA.js', 23)
    hours('older-AAAA.js', 25)
    const first = await buildConsole(cache)
    const names = readdirSync(assets)
    assert.ok(names.includes('before-AAAA.js') && !names.includes('older-AAAA.js'))
    assert.deepEqual(await buildConsole(cache), first)
    assert.deepEqual(readdirSync(assets), names)
  })

  it('is made again when one of its files is gone', async () => {
    const cache = join(folder, 'cache')
    const { script } = await buildConsole(cache)
    rmSync(join(assetsFolderOf(cache), script.slice('/assets/'.length)))
    await buildConsole(cache)
    assert.ok(readdirSync(assetsFolderOf(cache)).includes(script.slice('/assets/'.length)))
  })

  it('that fails says where in one line', async () => {
    const file = join(folder, 'broken.tsx')
    writeFileSync(file, 'export const a = 1\nexport const b = (\n')
    const error = await build({ entryPoints: [file], logLevel: 'silent', write: false }).catch(toBuildError)
    assert.match(
      (error as Error).message,
      /^The console could not be built: \S*broken\.tsx:3:1: Unexpected end of file$/,
    )
  })
})

const hostOf = (url: string): { host: string; port: string } => {
  const { hostname, port } = new URL(url)
  return { host: hostname, port }
}
