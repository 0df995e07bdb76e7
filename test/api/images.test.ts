import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Json, startAnnex } from '../support/annex.ts'
import { createPng } from '../support/create-png.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: (_request, { environment }) => Response.json(environment.integration.urls),
})`
const named = {
  script,
  more: 'icon: ./pictures/the icon.png\npreviewImages: [wide.png]',
  files: { 'pictures/the icon.png': createPng(64, 64), 'wide.png': createPng(1600, 800) },
}

describe('the images of an integration', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({ plugins: { named } })
    writeFileSync(join(annex.pluginsDir, 'named', 'other.png'), createPng(2, 2))
  })
  after(() => annex.close())

  const get = (path: string, headers = {}) =>
    fetch(`${annex.url}/v1/integrations/${path}`, { headers, redirect: 'manual' })
  /** Sends the path as it is; fetch resolves `..` and `%2e%2e`. */
  const status = async (path: string): Promise<number | undefined> => {
    const { hostname, port } = new URL(annex.url)
    const sent = request({ hostname, port, path: `/v1/integrations/${path}` }).end()
    const [answer]: IncomingMessage[] = await once(sent, 'response')
    answer?.resume()
    return answer?.statusCode
  }

  it('are at the addresses on its page and in its script, without a token', async () => {
    const { page } = (await annex.api('GET', '/v1/integrations/named')).json
    const urls: Json = await (await fetch(`${annex.url}/x/named`)).json()
    assert.equal(page.icon, urls.icon)
    assert.equal(page.icon, `${urls.assets}/pictures/the%20icon.png`)
    assert.deepEqual(page.previewImages, [`${urls.assets}/wide.png`])
    const answer = await fetch(page.icon)
    assert.equal(answer.status, 200)
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), createPng(64, 64))
    assert.equal(answer.headers.get('content-type'), 'image/png')
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(answer.headers.get('content-security-policy'), "default-src 'none'; sandbox")
    assert.equal(answer.headers.get('cross-origin-resource-policy'), 'cross-origin')
    assert.equal(answer.headers.get('cache-control'), 'public, max-age=300')
    const etag = answer.headers.get('etag') ?? ''
    assert.equal((await get('named/assets/wide.png')).headers.get('etag') === etag, false)
    // Without an own value fetch asks for no stored answer.
    const again = await get('named/assets/pictures/the%20icon.png', {
      'if-none-match': etag,
      'cache-control': 'max-age=0',
    })
    assert.equal(again.status, 304)
  })

  it('that its summary shows are stored with it, and those of other hosts are not fetched', async () => {
    const summary = [
      '![A chart](./pictures/a%20chart.png) ![same](pictures/a%20chart.png#x) ![gone](gone.png)',
      '![up](../named/wide.png) ![up](%2e%2e/named/wide.png) ![up](a/../../x/evil) ![root](/x/evil)',
      '![other](https://pictures.example/a.png) [a link](./pictures/link.png)',
    ].join('\n\n')
    const files = { 'pictures/a chart.png': createPng(3, 3), 'pictures/link.png': createPng(3, 3) }
    const more = `summary: ${JSON.stringify(summary)}`
    const told = await startAnnex({ plugins: { told: { script, more, files } } })
    try {
      const { json } = await told.api('GET', '/v1/integrations/told')
      const shown: Json[] = json.page.summaryTree.flatMap(({ children }: Json) => children)
      const srcs = shown.filter(({ tag }) => tag === 'img').map(({ children, src }) => [children[0], src])
      const assets = srcs[0]?.[1].replace(/\/pictures\/.*/, '')
      assert.match(assets, /^\/v1\/integrations\/told\/assets/)
      assert.deepEqual(srcs, [
        ['A chart', `${assets}/pictures/a%20chart.png`],
        ['same', `${assets}/pictures/a%20chart.png`],
        ['gone', `${assets}/gone.png`],
        ...['up', 'up', 'up', 'other'].map((text) => [text, undefined]),
      ])
      const statusAt = async (path = '') => (await fetch(told.url + path)).status
      assert.equal(await statusAt(srcs[0]?.[1]), 200)
      assert.equal(await statusAt(`${assets}/gone.png`), 404)
      assert.equal(await statusAt(`${assets}/pictures/link.png`), 404)
    } finally {
      await told.close()
    }
  })

  it('are only the files that the manifest names', async () => {
    const paths = [
      ...['other.png', 'index.ts', 'service-manifest.yaml', '', 'wide.png/', './/wide.png'],
      ...[
        '..%2Fnamed%2Fwide.png',
        '%2e%2e/named/assets/wide.png',
        '../assets/wide.png',
        '../../../../service-manifest.yaml',
        'pictures/../wide.png',
        '..%5c..%5cannex.sqlite',
        'pictures%2F..%2Findex.ts',
      ],
    ]
    for (const path of paths) assert.equal(await status(`named/assets/${path}`), 404, path)
    assert.equal(await status('absent/assets/wide.png'), 404)
    assert.equal(await status('named/assets/%ff'), 400, 'no text')
  })

  it('belong to the deployed version, also after a change and a rollback', async () => {
    const width = async () =>
      Buffer.from(await (await get('named/assets/wide.png')).arrayBuffer()).readUInt32BE(16)
    writeFileSync(join(annex.pluginsDir, 'named', 'wide.png'), createPng(3200, 1600))
    const { json } = await annex.api('POST', '/v1/reload')
    assert.equal(json.items[0].version.number, 2, JSON.stringify(json))
    assert.equal(await width(), 3200)
    assert.equal((await annex.api('POST', '/v1/integrations/named/rollback', { version: 1 })).status, 200)
    assert.equal(await width(), 1600)
    rmSync(join(annex.pluginsDir, 'named'), { recursive: true })
    await annex.api('POST', '/v1/reload')
    assert.equal(await status('named/assets/wide.png'), 404)
  })

  it('are refused with their path: links out of the folder, too much in total, another kind', async () => {
    const folder = writePlugin(annex.pluginsDir, 'hostile', {
      script,
      more: [
        'previewImages:',
        ...['link', 'a', 'b', 'c', 'd', 'e', 'page'].map((name) => `  - ${name}.png`),
      ].join('\n'),
      files: { 'page.png': '<html><script>alert(1)</script></html>' },
    })
    mkdirSync(folder, { recursive: true })
    symlinkSync('/etc/hostname', join(folder, 'link.png'))
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const unlike = Buffer.concat([createPng(2, 1), Buffer.alloc(4_500_000, name)])
      writeFileSync(join(folder, `${name}.png`), unlike)
    }
    const { json } = await annex.api('POST', '/v1/reload')
    const hostile = json.items.find(({ folder }: { folder: string }) => folder.endsWith('hostile'))
    assert.equal(hostile.state, 'failed')
    const text = JSON.stringify(hostile.problems)
    assert.match(text, /link\.png.{1,5} lies outside the plugin folder: a symlink leads there/)
    assert.match(text, /page\.png.{1,5} is not an image that can be shown/)
    assert.match(text, /all images together have 22500225 bytes; they may have 20971520/)
    assert.equal(await status('hostile/assets/a.png'), 404)
  })
})
