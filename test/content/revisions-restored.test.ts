import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Json, startAnnex } from '../support/annex.ts'
import { installIn } from '../support/installing.ts'

const script = `import { createComponent, createIntegration } from '@annex/runtime'
const component = (componentId: string) =>
  createComponent({ componentId, render: async ({ props }) => <block><text>{JSON.stringify(props)}</text></block> })
export default createIntegration({ components: [component('clip'), component('chart')] })
`
const blocks = `blocks:
  - { id: clip, title: Clip, urlUnfurl: ['https://clips.example/**'] }
  - { id: chart, title: Chart, markdown: { codeblock: chart, body: text } }`

describe('pages drawn, compared and restored through the API', () => {
  let annex: Annex
  let path: string
  const revisions: string[] = []
  const put = async (page: string, body: object): Promise<void> => {
    const { json, status, text } = await annex.api(
      'PUT',
      `${path}/content/page/${encodeURIComponent(page)}`,
      body,
    )
    assert.ok(status < 300, text)
    revisions.push(json.revision)
  }
  const get = async (at: string): Promise<Json> => (await annex.api('GET', path + at)).json
  const changesOf = ({ changes }: Json): string[] =>
    changes.map(({ type, page }: Json) => `${type.slice(5)} ${page.path}`)
  before(async () => {
    annex = await startAnnex({
      plugins: {
        clips: {
          more: `script: ./index.tsx\n${blocks}`,
          files: { 'index.tsx': script },
        },
      },
    })
    const made = await annex.api('POST', '/v1/orgs/home/spaces', { slug: 'drawn', title: 'Drawn' })
    path = `/v1/spaces/${made.json.id}`
    await put('a', { title: 'A', markdown: 'one' })
    await put('b', { title: 'B', markdown: 'below', parent: 'a' })
    await put('a', { markdown: 'two' })
    await annex.api('DELETE', `${path}/content/page/b`)
    await put('c', { title: 'C', markdown: 'new' })
  })
  after(() => annex.close())

  it('have a tree beside their Markdown when it is asked for', async () => {
    assert.equal((await get('/content/page/a')).tree, undefined)
    const { markdown, tree } = await get('/content/page/a?tree=true')
    assert.deepEqual([markdown, tree], ['two', [{ tag: 'p', children: ['two'] }]])
    const old = await get(`/revisions/${revisions[0]}/page/a?tree=true`)
    assert.deepEqual(old.tree, [{ tag: 'p', children: ['one'] }])
    const preview = await annex.api('POST', `${path}/content/preview`, { markdown: '**x**' })
    assert.deepEqual(preview.json, { tree: [{ tag: 'p', children: [{ tag: 'strong', children: ['x'] }] }] })
  })

  it('are compared with the revision before, and with an older one', async () => {
    const last = `/revisions/${revisions[3]}/changes`
    const before = await get(last)
    assert.deepEqual(changesOf(before), ['created c'])
    assert.match(before.since, /^rev_/)
    const since = await get(`${last}?since=${revisions[1]}`)
    assert.deepEqual([since.since, changesOf(since)], [revisions[1], ['edited a', 'created c', 'deleted b']])
    assert.deepEqual(changesOf(await get(`${last}?since=${revisions[3]}`)), [])
    const one = await get(`${last}?since=${revisions[1]}&limit=1`)
    assert.deepEqual([changesOf(one), one.more], [['edited a'], 2])
    assert.equal((await get(`/revisions/${revisions[0]}/changes`)).since, undefined)
    const none = await annex.api('GET', `${path}${last}?since=rev_none`)
    assert.equal(none.status, 404)
  })

  it('come back as a new revision with their ids, once', async () => {
    const old = await get(`/revisions/${revisions[1]}`)
    const restored = await annex.api('POST', `${path}/revisions/${revisions[1]}/restore`)
    assert.deepEqual([restored.status, restored.json.number], [200, 6], restored.text)
    const now = await get('/content')
    assert.equal(now.id, restored.json.id)
    assert.deepEqual(now.pages, old.pages)
    assert.equal((await get('/content/page/a')).markdown, 'one')
    assert.equal((await get('/content/page/b')).markdown, 'below')
    const again = await annex.api('POST', `${path}/revisions/${revisions[1]}/restore`)
    assert.equal(again.json.id, restored.json.id)
    // What was replaced is still there.
    assert.equal((await get(`/revisions/${revisions[3]}/page/c`)).markdown, 'new')
  })

  it('have the blocks of what is installed in their space alone', async () => {
    assert.deepEqual(await get('/blocks'), { items: [] })
    const { path: clips } = await installIn(annex, 'clips', 'home')
    const installed = await annex.api('POST', `${clips}/spaces`, { space: path.split('/').at(-1) })
    assert.equal(installed.status, 201, installed.text)
    const { items } = await get('/blocks')
    assert.deepEqual(
      items.map(({ integration, id, urlUnfurl, markdown }: Json) => ({
        integration,
        id,
        urlUnfurl,
        markdown,
      })),
      [
        { integration: 'clips', id: 'clip', urlUnfurl: ['https://clips.example/**'], markdown: undefined },
        { integration: 'clips', id: 'chart', urlUnfurl: [], markdown: { codeblock: 'chart', body: 'text' } },
      ],
    )
  })

  it('have blocks that a reader sees as they are stored, and no others', async () => {
    const made = await annex.api('POST', '/v1/orgs/home/tokens', { role: 'reader', label: 'Reader' })
    const reader = made.json.token
    const markdown =
      'Text\n\n{% @clips/clip url="https://a.example" %}\n\n```chart\na: 1\n```\n\n```js\n```\n\n{% @gone/x %}\n'
    await put('with/blocks', { markdown })
    const render = (line: string | number, body: object = {}, token = reader) =>
      annex.api('POST', `${path}/content/page/with%2Fblocks/blocks/${line}`, body, token)
    const textAt = async (line: number) => {
      const { json, text, status } = await render(line)
      assert.equal(status, 200, text)
      return JSON.stringify(json.element)
    }
    assert.match(await textAt(2), /https:\/\/a\.example/)
    assert.match(await textAt(4), /a: 1/)
    for (const line of [0, 3, 5, 8, 11, 99, -1, '2.5', 'x', ''])
      assert.equal((await render(line)).status, 404, `${line}`)
    const others = [{ props: { url: 'https://b.example' } }, { action: { action: 'x' } }, { state: {} }]
    for (const body of others) assert.equal((await render(2, body)).status, 422)
    const { id } = (await get('/blocks')).items[0]
    assert.equal(id, 'clip')
    const integration = '/v1/integrations/clips/installations'
    const { items } = (await annex.api('GET', integration)).json
    const direct = await annex.api(
      'POST',
      `${integration}/${items[0].id}/render`,
      { componentId: 'clip' },
      reader,
    )
    assert.equal(direct.status, 403)
  })
})
