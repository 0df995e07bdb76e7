import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Answered, installSample, type Json, startAnnex, until } from '../support/annex.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { api, environment }) => {
    const { path, ...page } = await request.json()
    try {
      const { data, status } = await api.spaces.putPage(environment.spaceInstallation.space, path, page)
      return Response.json(data, { status })
    } catch (error) {
      return Response.json({ error: { message: error.message } }, { status: error.status })
    }
  },
  events: { space_content_updated: (event) => console.log(JSON.stringify(event)) },
})
`
const read = 'space:content:read'

const operatorToken = async ({ dataDir }: Annex): Promise<string> =>
  (await readFile(join(dataDir, 'cli.token'), 'utf8')).trim()

describe('pages put through the API', () => {
  let annex: Annex
  let space: string
  let path: string
  const put = (page: string, body: object, token?: string): Promise<Answered> =>
    annex.api('PUT', `${path}/content/page/${encodeURIComponent(page)}`, body, token)
  const get = async (at: string): Promise<Json> => (await annex.api('GET', path + at)).json
  const shape = (pages: Json[]): string =>
    pages.map(({ path, pages: below }) => path + (below.length > 0 ? `(${shape(below)})` : '')).join(' ')
  before(async () => {
    annex = await startAnnex({
      plugins: {
        writer: { script, scopes: [read, 'space:content:write'] },
        reader: { script, scopes: [read] },
      },
    })
    const made = await annex.api('POST', '/v1/orgs/home/spaces', { slug: 'put', title: 'Put' })
    assert.equal(made.status, 201, made.text)
    space = made.json.id
    path = `/v1/spaces/${space}`
  })
  after(() => annex.close())

  it('have one entry in the audit for each revision, without their texts', async () => {
    const made = await put('audited', { title: 'Hidden title', markdown: 'Hidden text' })
    await put('audited/below', { parent: 'audited', markdown: 'Hidden below' })
    const same = await put('audited', { markdown: 'Hidden text' })
    assert.equal(same.status, 200)
    const gone = await annex.api('DELETE', `${path}/content/page/audited`)
    assert.equal(gone.status, 204, gone.text)
    const { items } = (await annex.api('GET', `/v1/audit?subject=${space}&action=content.change`)).json
    const [deleted, below, first] = items
    assert.equal(items.length, 3)
    assert.deepEqual(first.after, {
      ...{ revision: made.json.revision, number: 1, created: 1, edited: 0, deleted: 0 },
      pages: [made.json.id],
    })
    assert.deepEqual([first.actor.kind, first.request], ['token', made.headers.get('x-request-id')])
    assert.deepEqual([below.after.created, deleted.after.deleted], [1, 2])
    assert.doesNotMatch(JSON.stringify(items), /Hidden/)
  })

  it('create a page, change it, and make one revision for each', async () => {
    const made = await put('guides', { title: 'Guides', markdown: '# Guides\n' })
    assert.equal(made.status, 201, made.text)
    const first = made.json.revision
    const edited = await put('guides', { markdown: '# Guides\n\nMore.\n' })
    assert.deepEqual([edited.status, edited.json.id, edited.json.title], [200, made.json.id, 'Guides'])
    assert.notEqual(edited.json.revision, first)
    const same = await put('guides', { markdown: '# Guides\n\nMore.\n' })
    assert.equal(same.json.revision, edited.json.revision, 'an unchanged page makes no revision')
    const { changes } = await get(`/revisions/${edited.json.revision}/changes`)
    assert.deepEqual(
      changes.map(({ type, page }: Json) => [type, page.title]),
      [['page_edited', 'Guides']],
    )
    const before = await get(`/revisions/${first}/page/${made.json.id}`)
    assert.equal(before.markdown, '# Guides\n', 'an older revision stays as it was')
    const { author } = await get(`/revisions/${first}`)
    assert.equal(author.type, 'user')
    assert.match(author.id, /^tok_/, 'the command line’s token belongs to no member')
  })

  it('can be placed below others, moved, and deleted with their subpages', async () => {
    await put('guides/a', { title: 'A', markdown: 'a', parent: 'guides' })
    await put('guides/b', { title: 'B', markdown: 'b', parent: 'guides', index: 0 })
    const document = { object: 'document', nodes: [{ text: 'Of its own kind' }] }
    const last = await put('last', { document })
    assert.deepEqual([last.json.title, last.json.document, last.json.markdown], ['last', document, undefined])
    assert.equal(shape((await get('/content')).pages), 'guides(guides/b guides/a) last')
    await put('guides/b', { parent: 'last' })
    await put('last', { index: 0 })
    const { pages, id } = await get('/content')
    assert.equal(shape(pages), 'last(guides/b) guides(guides/a)')
    assert.equal(pages[0].pages[0].parent, last.json.id)
    assert.equal((await put('guides', { parent: 'guides/a' })).status, 422, 'a page is not below itself')
    assert.equal((await annex.api('DELETE', `${path}/content/page/last`)).status, 204)
    const after = await get('/content')
    assert.equal(shape(after.pages), 'guides(guides/a)')
    assert.equal(shape((await get(`/revisions/${id}/pages`)).pages), 'last(guides/b) guides(guides/a)')
    const { changes } = await get(`/revisions/${after.id}/changes`)
    assert.deepEqual(
      changes.map(({ type, page }: Json) => `${type} ${page.path}`),
      ['page_deleted last', 'page_deleted guides/b'],
    )
  })

  it('can come from a script with the scope, and the event names the author', async () => {
    const installed = await installSample(annex, 'writer')
    const base = `/v1/integrations/writer/installations/${installed.id}/spaces`
    const installedOn = await annex.api('POST', base, { space })
    await until(
      () => annex.api('GET', `${base}/${space}`),
      ({ json }) => json.status === 'active',
    )
    const response = await fetch(installedOn.json.urls.publicEndpoint, {
      method: 'POST',
      body: JSON.stringify({ path: 'by-script', title: 'By a script', markdown: 'Hello.' }),
    })
    const page: Json = await response.json()
    assert.equal(response.status, 201, JSON.stringify(page))
    const events = await until(
      async () => {
        const { json } = await annex.api('GET', `/v1/logs?installation=${installed.id}`)
        return json.items.map(({ text }: Json) => text).filter((text: string) => text.startsWith('{'))
      },
      (texts) => texts.length > 0,
    )
    const event = JSON.parse(events[0])
    assert.deepEqual([event.spaceId, event.revisionId], [space, page.revision])
    assert.deepEqual(event.updatedBy, [{ type: 'integration', id: 'writer' }])
    assert.deepEqual((await get(`/revisions/${page.revision}`)).author, { type: 'integration', id: 'writer' })
  })

  it('are refused for a script without the scope, and with an unknown token', async () => {
    const ask = async (integration: string, body: object): Promise<Answered> => {
      const installed = await installSample(annex, integration, 'space')
      const response = await fetch(installed.endpoint, { method: 'POST', body: JSON.stringify(body) })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, json: JSON.parse(text) }
    }
    const refused = await ask('reader', { path: 'x', markdown: 'x' })
    assert.equal(refused.status, 403, refused.text)
    assert.match(refused.json.error.message, /space:content:write/)
    assert.equal((await put('x', { markdown: 'x' }, 'annex_org_nothing')).status, 401)
  })

  it('are refused in a space that a folder writes', async () => {
    const sample = annex.server.samples.space
    const refused = await annex.api('PUT', `/v1/spaces/${sample}/content/page/welcome`, { markdown: 'x' })
    assert.deepEqual([refused.status, refused.json.error.code], [409, 'conflict'])
    assert.match(refused.json.error.message, /files of a folder.+Edit them there/)
    const deleted = await annex.api('DELETE', `/v1/spaces/${sample}/content/page/welcome`)
    assert.equal(deleted.status, 409)
  })

  it('are refused with a wrong path, wrong content or too much text, and store nothing', async () => {
    const { id } = await get('/content')
    for (const [page, body, status] of [
      ['a/..', { markdown: 'x' }, 400],
      ['a//b', { markdown: 'x' }, 400],
      ['a\u0000b', { markdown: 'x' }, 400],
      ['a\u202eb', { markdown: 'x' }, 400],
      ['x'.repeat(501), { markdown: 'x' }, 400],
      ['page_0190a1b2-0000-7000-8000-000000000000', { markdown: 'x' }, 404],
      ['ok', { markdown: 'x', parent: 'nowhere' }, 422],
      ['ok', { markdown: 7 }, 422],
      ['ok', { title: '' }, 422],
      ['ok', { id: 'page_1' }, 422],
      ['ok', { index: -1 }, 422],
      ['ok', { markdown: 'nul \u0000' }, 422],
      ['ok', { title: 'half \ud800' }, 422],
      ['ok', { markdown: 'x'.repeat(3 * 1024 * 1024) }, 413],
    ] as const) {
      const answer = await put(page, body)
      assert.equal(answer.status, status, `${page.slice(0, 50)} ${answer.text}`)
    }
    assert.equal((await annex.api('DELETE', `${path}/content/page/nothing`)).status, 404)
    assert.equal((await get('/content')).id, id)
  })

  it('are refused to a person who read an older version of the page', async () => {
    const at = `${annex.url}${path}/content/page/edited-by-two`
    const operator = await operatorToken(annex)
    const send = (method: string, tag: string | undefined, body?: object) =>
      fetch(at, {
        method,
        headers: {
          authorization: `Bearer ${operator}`,
          'content-type': 'application/json',
          ...(tag !== undefined && { 'if-match': tag }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
    const made = await send('PUT', undefined, { title: 'Made', markdown: 'one' })
    assert.equal(made.status, 201, 'a new page needs no tag')
    const tag = (await send('GET', undefined)).headers.get('etag') ?? ''
    assert.equal(made.headers.get('etag'), tag)
    assert.equal((await send('PUT', undefined, { markdown: 'two' })).status, 428)
    const first = await send('PUT', tag, { markdown: 'two' })
    assert.equal(first.status, 200)
    const second = await send('PUT', tag, { markdown: 'three' })
    assert.equal(second.status, 412)
    assert.equal((await send('DELETE', tag)).status, 412)
    assert.equal((await send('DELETE', undefined)).status, 428)
    assert.equal(((await (await send('GET', undefined)).json()) as Json).markdown, 'two')
    assert.equal((await send('DELETE', first.headers.get('etag') ?? '')).status, 204)
    assert.equal((await send('PUT', tag, { markdown: 'back' })).status, 412, 'it is not made again')
  })

  it('take turns: twenty simultaneous ones make twenty revisions without a gap', async () => {
    const { number } = await get('/content')
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => put(`many/${n}`, { title: `${n}`, markdown: `${n}` })),
    )
    assert.ok(answers.every(({ status }) => status === 201))
    assert.equal(new Set(answers.map(({ json }) => json.id)).size, 20)
    const now = await get('/content')
    assert.equal(now.number, number + 20)
    assert.equal(now.pages.length, 22)
  })
})

describe('pages that are moved', () => {
  let annex: Annex
  let space: string
  const at = (page: string) => `/v1/spaces/${space}/content/page/${encodeURIComponent(page)}`
  const put = (page: string, body: object) => annex.api('PUT', at(page), body)
  const shape = (pages: Json[]): string =>
    pages.map(({ path, pages: below }) => path + (below.length > 0 ? `(${shape(below)})` : '')).join(' ')
  const tree = async (): Promise<string> =>
    shape((await annex.api('GET', `/v1/spaces/${space}/content/pages`)).json.pages)
  before(async () => {
    annex = await startAnnex()
    space = (await annex.api('POST', '/v1/orgs/home/spaces', { slug: 'moved', title: 'Moved' })).json.id
    for (const page of ['a', 'b', 'c', 'd']) await put(page, { markdown: page })
    await put('b1', { parent: 'b' })
    await put('b2', { parent: 'b1' })
  })
  after(() => annex.close())

  it('come before another page, below its parent, with those below them', async () => {
    const cases: [page: string, body: object, tree: string][] = [
      ['d', { before: 'a' }, 'd a b(b1(b2)) c'],
      ['b', { before: 'd' }, 'b(b1(b2)) d a c'],
      ['c', { before: 'b1' }, 'b(c b1(b2)) d a'],
      ['c', { before: 'd', parent: null }, 'b(b1(b2)) c d a'],
      ['c', { before: 'd' }, 'b(b1(b2)) c d a'],
      ['b', { index: 9, parent: null }, 'c d a b(b1(b2))'],
      ['a', { before: 'b2', parent: 'b1' }, 'c d b(b1(a b2))'],
      ['a', { before: 'c' }, 'a c d b(b1(b2))'],
    ]
    for (const [page, body, wanted] of cases) {
      const { status, text } = await put(page, body)
      assert.equal(status, 200, text)
      assert.equal(await tree(), wanted, `${page} ${JSON.stringify(body)}`)
    }
    assert.equal((await annex.api('GET', at('a'))).json.markdown, 'a')
  })

  it('come neither before or below themselves, nor where no page is', async () => {
    const known = await tree()
    const bodies = [
      ...[{ before: 'b' }, { before: 'b1' }, { before: 'b2' }, { before: 'none' }, { before: '' }],
      ...[{ parent: 'b' }, { parent: 'b1' }, { parent: 'b2' }, { parent: 'none' }],
      ...[
        { before: 'a', parent: 'c' },
        { before: 'a', parent: 'b1' },
      ],
    ]
    for (const body of bodies) assert.equal((await put('b', body)).status, 422, JSON.stringify(body))
    assert.equal(await tree(), known)
  })

  it('make no circle and lose no page when two are moved at once', async () => {
    const sorted = async () =>
      (await tree())
        .split(/[ ()]+/)
        .filter(Boolean)
        .toSorted()
    const all = await sorted()
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all([put('a', { parent: 'c' }), put('c', { parent: 'a' })])
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 422])
      assert.deepEqual(await sorted(), all)
      await put('a', { parent: null })
      await put('c', { parent: null })
    }
    const moves = ['a', 'b', 'c', 'd', 'b1', 'b2'].flatMap((page) =>
      ['a', 'b1', 'd'].map((before) => put(page, { before })),
    )
    for (const { status } of await Promise.all(moves))
      assert.ok(status === 200 || status === 422, `${status}`)
    assert.deepEqual(await sorted(), all)
  })

  it('need the tag of a page that another person has not changed since', async () => {
    const path = at('a')
    const { headers } = await annex.api('GET', path)
    const etag = headers.get('etag') ?? ''
    await put('a', { title: 'Another title' })
    const token = await operatorToken(annex)
    const move = (ifMatch?: string) =>
      fetch(annex.url + path, {
        method: 'PUT',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${token}`,
          ...(ifMatch !== undefined && { 'if-match': ifMatch }),
        },
        body: JSON.stringify({ before: 'd' }),
      })
    assert.deepEqual([(await move(etag)).status, (await move()).status], [412, 428])
  })
})
