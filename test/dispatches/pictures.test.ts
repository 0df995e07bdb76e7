import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex } from '../support/annex.ts'
import { createPng } from '../support/create-png.ts'

/** Shows a picture at each address of its properties. */
const script = `
import { createComponent, createIntegration } from '@annex/runtime'
const pictures = createComponent({
  componentId: 'pictures',
  render: ({ props }) => ({ type: 'block', children: [
    ...props.of.map((url) => ({ type: 'card', icon: { type: 'image', source: { url } } })),
    { type: 'image', source: { url: { $state: 'url' } } },
    { type: 'webframe', source: { url: 'https://frame.example' } },
  ] }),
})
export default createIntegration({ components: [pictures] })`

const png = Buffer.from(createPng(2, 3))
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'

describe('a picture of another host in a component', () => {
  let annex: Annex
  let host: Server
  let at: string
  let path: string
  let declared: string
  const asked: { path: string; headers: IncomingHttpHeaders }[] = []
  before(async () => {
    host = createServer((request, response) => {
      const { url = '', headers } = request
      asked.push({ path: url, headers })
      const image = { 'content-type': 'image/png' }
      const to = new URLSearchParams(url.split('?')[1]).get('to')
      if (url.startsWith('/redirect')) response.writeHead(302, { location: `${to}` }).end()
      else if (url === '/svg') response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(svg)
      else if (url === '/html') response.writeHead(200, image).end('<script>alert(1)</script>')
      else if (url === '/gone') response.writeHead(404, image).end(png)
      else if (url === '/wide') response.writeHead(200, image).end(createPng(60_000, 60_000))
      else if (url === '/large') {
        response.writeHead(200, image).write(png)
        const timer = setInterval(() => response.write(Buffer.alloc(1024 * 1024)), 1)
        response.once('close', () => clearInterval(timer))
      } else response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'a=b' }).end(png)
    }).listen(0, '127.0.0.1')
    await once(host, 'listening')
    at = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
    annex = await startAnnex({
      plugins: { gallery: { script }, narrow: { script, more: 'egress: [pictures.example.com]' } },
    })
    path = (await installSample(annex, 'gallery')).path
    declared = (await installSample(annex, 'narrow')).path
  })
  after(async () => {
    host.closeAllConnections()
    host.close()
    await annex.close()
  })

  /** The addresses of Annex for those of the script. */
  async function render(of: string[], level = path): Promise<Record<string, string>> {
    const { status, json } = await annex.api('POST', `${level}/render`, {
      componentId: 'pictures',
      props: { of },
    })
    assert.equal(status, 200)
    return json.pictures ?? {}
  }
  const addressOf = async (url: string, level = path) => (await render([url], level))[url] ?? ''
  const read = (address: string) => fetch(annex.url + address)

  it('is fetched by the host, without anything of the person', async () => {
    asked.length = 0
    const response = await fetch(annex.url + (await addressOf(`${at}/a.png`)), {
      headers: {
        cookie: 'annex_session=secret',
        referer: 'https://annex.example/',
        'user-agent': 'Person/1',
      },
    })
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'image/png'])
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(png))
    assert.equal(response.headers.get('content-security-policy'), "default-src 'none'; sandbox")
    assert.equal(response.headers.get('cross-origin-resource-policy'), 'same-origin')
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(response.headers.get('cache-control'), 'private, max-age=3600')
    assert.equal(response.headers.get('set-cookie'), null)
    assert.equal(asked.length, 1)
    assert.doesNotMatch(JSON.stringify(asked), /secret|Person|annex\.example/)
  })

  it('has an address only in a rendered tree, and of http or https', async () => {
    const of = [
      'javascript:alert(1)',
      'data:image/png,x',
      '/v1/me',
      'ftp://a.example/x',
      'https://',
      '',
      `https://a.example/${'x'.repeat(2_000)}`,
    ]
    assert.deepEqual(await render(of), {})
    assert.deepEqual(Object.keys(await render(['HTTPS://a.example/x'])), ['HTTPS://a.example/x'])
    const many = Array.from({ length: 200 }, (_, n) => `https://a.example/${n}`)
    assert.equal(Object.keys(await render(many)).length, 100)
  })

  it('with an address that Annex has not signed is not fetched', async () => {
    const good = await addressOf(`${at}/a.png`)
    const query = new URLSearchParams(good.split('?')[1])
    const other = (await addressOf(`${at}/a.png`, declared)).split('?')[0]
    asked.length = 0
    const changed = (name: string, value: string) => {
      const copy = new URLSearchParams(query)
      copy.set(name, value)
      return `${good.split('?')[0]}?${copy}`
    }
    const forged = [
      changed('address', `${at}/b.png`),
      changed('until', String(Number(query.get('until')) + 1)),
      changed('until', '1'),
      changed('until', 'NaN'),
      changed('key', ''),
      changed('key', 'x'.repeat(43)),
      `${other}?${query}`,
      good.replace('/gallery/', '/narrow/'),
      `${good.split('?')[0]}`,
    ]
    for (const address of forged) assert.equal((await read(address)).status, 404, address)
    assert.equal(asked.length, 0)
  })

  it('that is none, too large, or too many pixels is refused', async () => {
    for (const name of ['svg', 'html', 'gone', 'wide', 'large']) {
      const { status, text } = await textOf(await read(await addressOf(`${at}/${name}`)))
      assert.equal(status, 502, `${name}: ${text}`)
      assert.doesNotMatch(text, /<script|<svg/)
    }
  })

  it('is not fetched from a network of the host, also after a redirect', async () => {
    const inside = [
      'http://127.0.0.2:8080/a.png',
      'http://169.254.169.254/latest/meta-data',
      'http://[::1]:8080/a.png',
      'http://10.0.0.1/a.png',
      'http://0x7f000002/a.png',
      'http://[::ffff:169.254.169.254]/',
      `http://user:password@${new URL(at).host}/a.png`,
    ]
    for (const url of [...inside, ...inside.map((to) => `${at}/redirect?to=${encodeURIComponent(to)}`)]) {
      const { status, text } = await textOf(await read(await addressOf(url)))
      assert.equal(status, 502, url + text)
      assert.match(text, /address guard|not public|refuse|may not|private|holds a user name/, url)
    }
    assert.equal((await read(await addressOf(`${at}/redirect?to=/a.png`))).status, 200)
  })

  it('is fetched from declared hosts alone', async () => {
    const { status, text } = await textOf(await read(await addressOf(`${at}/a.png`, declared)))
    assert.equal(status, 502)
    assert.match(text, /may not reach 127\.0\.0\.1/)
  })
})

const textOf = async (response: Response): Promise<{ status: number; text: string; json?: Json }> => ({
  status: response.status,
  text: await response.text(),
})
