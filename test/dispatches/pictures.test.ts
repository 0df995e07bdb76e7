import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex } from '../support/annex.ts'
import { type PictureHost, png, startPictureHost } from '../support/picture-host.ts'

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
const written = createComponent({
  componentId: 'written',
  initialState: (props) => props.state ?? {},
  render: ({ props }) => ({ type: 'block', children: [
    ...(props.texts ?? []).map((content) => ({ type: 'box', children: [{ type: 'markdown', content }] })),
    { type: 'markdown', content: { $state: 'text' } },
    { type: 'image', source: { url: { $state: 'url' } } },
    { type: 'textinput', state: 'url', initialValue: props.initial },
  ] }),
})
export default createIntegration({ components: [pictures, written] })`

describe('a picture of another host in a component', () => {
  let annex: Annex
  let host: PictureHost
  let at: string
  let path: string
  let declared: string
  let asked: PictureHost['asked']
  before(async () => {
    host = await startPictureHost()
    at = host.url
    asked = host.asked
    annex = await startAnnex({
      plugins: { gallery: { script }, narrow: { script, more: 'egress: [pictures.example.com]' } },
    })
    path = (await installSample(annex, 'gallery')).path
    declared = (await installSample(annex, 'narrow')).path
  })
  after(async () => {
    host.close()
    await annex.close()
  })

  /** The addresses of Annex for those of the script. */
  const render = (of: string[], level = path) => ask({ componentId: 'pictures', props: { of } }, level)
  const ask = async (body: object, level = path): Promise<Record<string, string>> => {
    const { status, json, text } = await annex.api('POST', `${level}/render`, body)
    assert.equal(status, 200, text)
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

  it('has an address in Markdown, and where the state names it in this answer', async () => {
    const a = 'https://a.example'
    const written = async (props: object, state?: object) =>
      Object.keys(await ask({ componentId: 'written', props, ...(state && { state }) }))
    const texts = [
      `![one](${a}/1.png) and [a link](${a}/link) and \`![code](${a}/code)\``,
      `[![two](${a}/2.png)](${a}/link)\n\n![three][3]\n\n[3]: ${a}/3.png`,
      `![x](javascript:alert(1)) ![x](data:image/png;base64,AAAA) ![x](mailto:a@b.example) ![x](/v1/me)`,
      `<img src="${a}/html.png">`,
    ]
    assert.deepEqual(await written({ texts }), [`${a}/1.png`, `${a}/2.png`, `${a}/3.png`])
    assert.deepEqual(await written({ state: { url: `${a}/s`, text: `![](${a}/t)` } }), [`${a}/s`, `${a}/t`])
    assert.deepEqual(await written({}, { url: `${a}/kept` }), [`${a}/kept`])
    assert.deepEqual(await written({ initial: `${a}/initial` }), [`${a}/initial`])
    assert.deepEqual(await written({ initial: `${a}/initial` }, { url: `${a}/own` }), [`${a}/own`])
    for (const url of [7, null, { $state: 'url' }, ['x'], 'javascript:alert(1)']) {
      assert.deepEqual(await written({}, { url }), [], JSON.stringify(url))
    }
  })

  it('in Markdown of megabytes has no address, and the host answers at once', async () => {
    const text = `${'![a'.repeat(60_000)} ![a](https://a.example/late)`
    const begun = performance.now()
    assert.deepEqual(await ask({ componentId: 'written', props: { texts: [text, text] } }), {})
    assert.ok(performance.now() - begun < 5_000)
    const many = Array.from({ length: 200 }, (_, n) => `![](https://a.example/${n})`)
    assert.equal(Object.keys(await ask({ componentId: 'written', props: { texts: many } })).length, 100)
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
