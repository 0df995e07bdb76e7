import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { type PictureHost, png, startPictureHost } from '../support/picture-host.ts'

/** Puts a page, as a visitor asks. */
const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { api, environment }) => {
    const { path, ...page } = await request.json()
    await api.spaces.putPage(environment.spaceInstallation.space, path, page)
    return new Response()
  },
})
`
const scopes = ['space:content:read', 'space:content:write']

type Node = string | { tag: string; href?: string; src?: string; children?: Node[] }

describe('a picture in a page of a space', () => {
  let annex: Annex
  let host: PictureHost
  before(async () => {
    host = await startPictureHost()
    annex = await startAnnex({
      plugins: {
        writer: { script, scopes, more: 'egress: [pictures.example.com]' },
        other: { script, scopes },
      },
    })
  })
  after(async () => {
    host.close()
    await annex.close()
  })

  const makeSpace = async (slug: string): Promise<string> => {
    const { status, json, text } = await annex.api('POST', '/v1/orgs/home/spaces', { slug, title: slug })
    assert.equal(status, 201, text)
    return json.id
  }
  const pathOf = (space: string, page = 'a') => `/v1/spaces/${space}/content/page/${page}`
  const put = async (space: string, body: object, page = 'a') => {
    const { status, text } = await annex.api('PUT', pathOf(space, page), body)
    assert.ok(status <= 201, text)
  }
  const read = (address: string) =>
    fetch(annex.url + address, { headers: { cookie: 'annex_session=secret' } })

  /** The pictures of a tree: where each lies, and where a page reads it. */
  const picturesIn = (nodes: Node[]): [string, string | undefined][] =>
    nodes.flatMap((node) => {
      if (typeof node === 'string') return []
      return node.tag === 'img' ? [[node.href ?? '', node.src]] : picturesIn(node.children ?? [])
    })
  const pictures = async (space: string, page = 'a') => {
    const { status, json, text } = await annex.api('GET', `${pathOf(space, page)}?tree=true`)
    assert.equal(status, 200, text)
    return picturesIn(json.tree)
  }
  const srcOf = async (space: string, markdown: string): Promise<string> => {
    await put(space, { markdown })
    const [[, src = ''] = []] = await pictures(space)
    return src
  }

  it('of people is fetched by the host, without anything of the reader', async () => {
    const space = await makeSpace('people')
    const src = await srcOf(space, `# A\n\n- [![A chart](${host.url}/a.png)](https://a.example)`)
    assert.match(src, new RegExp(`^/v1/spaces/${space}/picture\\?address=`))
    host.asked.length = 0
    const answer = await read(src)
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'image/png'])
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(png))
    assert.equal(answer.headers.get('content-security-policy'), "default-src 'none'; sandbox")
    assert.equal(answer.headers.get('cross-origin-resource-policy'), 'same-origin')
    assert.equal(answer.headers.get('set-cookie'), null)
    assert.doesNotMatch(JSON.stringify(host.asked), /secret|annex_session/)
    assert.equal(host.asked.length, 1)
  })

  it('shows in a preview, and in an older revision', async () => {
    const space = await makeSpace('preview')
    await put(space, { markdown: `![](${host.url}/old.png)` })
    const { json: old } = await annex.api('GET', `/v1/spaces/${space}/content`)
    await put(space, { markdown: 'new' })
    const { json } = await annex.api('GET', `/v1/spaces/${space}/revisions/${old.id}/page/a?tree=true`)
    const [[, src = ''] = []] = picturesIn(json.tree)
    assert.equal((await read(src)).status, 200)
    const markdown = `![](${host.url}/new.png)`
    for (const page of [undefined, 'a', 'none']) {
      const path = `/v1/spaces/${space}/content/preview`
      const { json } = await annex.api('POST', path, { markdown, ...(page && { page }) })
      assert.match(picturesIn(json.tree)[0]?.[1] ?? '', new RegExp(`^/v1/spaces/${space}/picture`))
    }
  })

  it('with an address that Annex has not signed for the space is not fetched', async () => {
    const [space, other] = [await makeSpace('forged'), await makeSpace('forged-other')]
    const src = await srcOf(space, `![](${host.url}/a.png)`)
    const changed = (name: string, value: string) => {
      const url = new URL(src, annex.url)
      url.searchParams.set(name, value)
      return url.pathname + url.search
    }
    host.asked.length = 0
    const forged = [
      changed('address', `${host.url}/b.png`),
      changed('until', '9999999999'),
      changed('until', 'NaN'),
      changed('key', ''),
      changed('key', 'x'.repeat(43)),
      src.replace(space, other),
      src.replace(space, 'forged'),
      src.replace(space, 'space_none'),
      src.replace('?', '?address=http%3A%2F%2Fa.example&'),
      src.split('?')[0] ?? '',
    ]
    for (const address of forged) {
      const { status } = await read(address)
      assert.ok(status === 404 || status === 400, `${status} ${address}`)
    }
    assert.equal(host.asked.length, 0)
  })

  it('that is none, too large, or in a network of the host is refused', async () => {
    const space = await makeSpace('hostile')
    for (const name of ['svg', 'html', 'gone', 'wide', 'large']) {
      const answer = await read(await srcOf(space, `![](${host.url}/${name})`))
      assert.deepEqual([name, answer.status], [name, 502])
      assert.doesNotMatch(await answer.text(), /<script|<svg/)
    }
    const inside = [
      'http://127.0.0.2:8080/a.png',
      'http://localhost:1/a.png',
      'http://169.254.169.254/latest/meta-data',
      'http://[::1]:8080/a.png',
      'http://10.0.0.1/a.png',
      'http://2852039166/',
    ]
    for (const url of [
      ...inside,
      ...inside.map((to) => `${host.url}/redirect?to=${encodeURIComponent(to)}`),
    ]) {
      assert.deepEqual([url, (await read(await srcOf(space, `![](${url})`))).status], [url, 502])
    }
    const none =
      '![](javascript:alert(1)) ![](data:image/png;base64,AAAA) ![](file:///etc/passwd) ![](/v1/me)'
    assert.equal(await srcOf(space, none), '')
  })

  it('has an address among the first hundred of its page', async () => {
    const space = await makeSpace('many')
    const all = Array.from({ length: 1_000 }, (_, n) => `![](${host.url}/${n}.png)`)
    await put(space, { markdown: all.join('\n') })
    const found = await pictures(space)
    assert.deepEqual([found.length, found.filter(([, src]) => src).length], [1_000, 100])
    await put(space, { markdown: `![](${host.url}/${'x'.repeat(2_000)})` })
    assert.equal((await pictures(space))[0]?.[1], undefined)
  })

  describe('that a script wrote', () => {
    let written: string
    const write: Record<string, (body: Json) => Promise<void>> = {}
    before(async () => {
      written = await makeSpace('written')
      for (const name of ['writer', 'other']) {
        const { path } = await installSample(annex, name)
        const { json, text } = await annex.api('POST', `${path}/spaces`, { space: written })
        assert.ok(json.urls?.publicEndpoint, text)
        write[name] = async (body) => {
          const { status } = await fetch(json.urls.publicEndpoint, {
            method: 'POST',
            body: JSON.stringify(body),
          })
          assert.equal(status, 200)
        }
      }
    })
    const secret = () => `![](${host.url}/?secret=of-the-space)`
    const statusOf = async (page: string) => {
      const [[, src] = []] = await pictures(written, page)
      return src === undefined ? undefined : (await read(src)).status
    }

    it('is fetched within its egress, also when a person edits, moves or previews the page', async () => {
      host.asked.length = 0
      await write.writer?.({ path: 'leak', title: 'Leak', markdown: secret() })
      assert.equal(await statusOf('leak'), 502)
      await put(written, { title: 'Another title' }, 'leak')
      assert.equal(await statusOf('leak'), 502)
      await put(written, { index: 0 }, 'leak')
      assert.equal(await statusOf('leak'), 502)
      await put(written, { markdown: `A word. ${secret()}` }, 'leak')
      assert.equal(await statusOf('leak'), 502)
      const path = `/v1/spaces/${written}/content/preview`
      const { json } = await annex.api('POST', path, { markdown: secret(), page: 'leak' })
      assert.match(picturesIn(json.tree)[0]?.[1] ?? '', /^\/v1\/integrations\/writer\//)
      assert.equal(host.asked.length, 0)
    })

    it('is not fetched as that of another script, or of a person before it', async () => {
      host.asked.length = 0
      await put(written, { markdown: 'of a person' }, 'mixed')
      await write.writer?.({ path: 'mixed', markdown: secret() })
      assert.equal(await statusOf('mixed'), 502)
      await write.other?.({ path: 'mixed', markdown: `${secret()} too` })
      assert.equal(await statusOf('mixed'), undefined)
      await put(written, { markdown: `${secret()} again` }, 'mixed')
      assert.equal(await statusOf('mixed'), undefined)
      assert.equal(host.asked.length, 0)
    })

    it('of an old revision that a person restores is still its own', async () => {
      await write.writer?.({ path: 'restored', markdown: secret() })
      const { json: old } = await annex.api('GET', `/v1/spaces/${written}/content`)
      await annex.api('DELETE', pathOf(written, 'restored'))
      const { status } = await annex.api('POST', `/v1/spaces/${written}/revisions/${old.id}/restore`)
      assert.equal(status, 200)
      assert.equal(await statusOf('restored'), 502)
    })

    it('is shown where its manifest allows the host, until it is uninstalled', async () => {
      await write.other?.({ path: 'open', markdown: `![](${host.url}/a.png)` })
      assert.equal(await statusOf('open'), 200)
      const [[, src = ''] = []] = await pictures(written, 'open')
      const [, installation = ''] = /installations\/([^/]+)\//.exec(src) ?? []
      const gone = await annex.api('DELETE', `/v1/integrations/other/installations/${installation}`)
      assert.ok(gone.status < 300, gone.text)
      await until(
        async () => (await read(src)).status,
        (status) => status === 404,
      )
    })
  })
})

describe('a picture in a page of a space, where the operator allows declared hosts alone', () => {
  it('is not fetched', async () => {
    const host = await startPictureHost()
    const annex = await startAnnex({ flags: { EGRESS_REQUIRE_DECLARED: 'true' } })
    try {
      const space = (await annex.api('POST', '/v1/orgs/home/spaces', { slug: 'a', title: 'A' })).json.id
      const path = `/v1/spaces/${space}/content/page/a`
      await annex.api('PUT', path, { markdown: `![](${host.url}/a.png)` })
      const { json } = await annex.api('GET', `${path}?tree=true`)
      const answer = await fetch(annex.url + json.tree[0].children[0].src)
      assert.equal(answer.status, 502)
      assert.match(await answer.text(), /EGRESS_REQUIRE_DECLARED/)
      assert.equal(host.asked.length, 0)
    } finally {
      host.close()
      await annex.close()
    }
  })
})
