import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, startAnnex } from '../support/annex.ts'

const script = `
import { createComponent, createIntegration } from '@annex/runtime'
const card = createComponent({
  componentId: 'card',
  render: (element) => {
    element.setCache({ maxAge: 60 })
    const { props } = element
    return { type: 'block', children: [
    { type: 'image', source: { url: props.url } },
    { type: 'markdown', content: '![](' + props.url + '?markdown)' },
    { type: 'select', state: 'team', options: { source: '/teams' } },
    ] }
  },
})
export default createIntegration({
  components: [card],
  fetch: (request) => {
    const { pathname, searchParams } = new URL(request.url)
    return pathname.endsWith('/teams')
      ? Response.json({ options: [{ id: 'a', label: 'Team A ' + (searchParams.get('q') ?? '') }], next: '2' })
      : new Response('no', { status: 404 })
  },
})`
const plugin = { script, more: 'blocks: [{ id: card, title: Card }]' }

describe('a block of a stored page, for a reader', () => {
  let annex: Annex
  let space: string
  let reader: string
  let stranger: string
  before(async () => {
    annex = await startAnnex({ plugins: { cards: plugin, lonely: plugin } })
    space = (await annex.api('POST', '/v1/orgs/home/spaces', { slug: 'a', title: 'A' })).json.id
    const { path } = await installSample(annex, 'cards')
    const installed = await annex.api('POST', `${path}/spaces`, { space })
    assert.equal(installed.status, 201, installed.text)
    await annex.api('PUT', `/v1/spaces/${space}/content/page/a`, {
      markdown: 'Text\n\n{% @cards/card url="https://a.example/p.png" %}\n',
    })
    await annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })
    const tokenOf = async (org: string, role: string) => {
      const { json, text } = await annex.api('POST', `/v1/orgs/${org}/tokens`, { role, label: role })
      assert.ok(json.token, text)
      return json.token
    }
    reader = await tokenOf('home', 'reader')
    stranger = await tokenOf('other', 'admin')
  })
  after(() => annex.close())

  const block = (line: number | string = 2, page = 'a') =>
    `/v1/spaces/${space}/content/page/${page}/blocks/${line}`

  it('has the addresses of its pictures, and the time that it may be kept', async () => {
    const { status, json, headers } = await annex.api('POST', block(), {}, reader)
    assert.equal(status, 200)
    const addresses = ['https://a.example/p.png', 'https://a.example/p.png?markdown']
    assert.deepEqual(Object.keys(json.pictures), addresses)
    assert.match(json.pictures[addresses[0] ?? ''], /^\/v1\/integrations\/cards\/installations\//)
    assert.equal(headers.get('cache-control'), 'max-age=60')
  })

  it('has the choices of its select', async () => {
    const body = { source: '/teams', q: 'b' }
    const { status, json } = await annex.api('POST', `${block()}/options`, body, reader)
    assert.deepEqual([status, json], [200, { options: [{ label: 'Team A b', value: 'a' }], next: '2' }])
  })

  it('asks for no choices where no block is, for no other address, and for no stranger', async () => {
    const ask = async (at: string, source: string, token: string) =>
      (await annex.api('POST', `${at}/options`, { source }, token)).status
    for (const line of [0, 1, 3, '2.5', '-1', 'x', '__proto__']) {
      assert.equal(await ask(block(line), '/teams', reader), 404, `${line}`)
    }
    assert.equal(await ask(block(2, 'none'), '/teams', reader), 404)
    const other = (await installSample(annex, 'lonely')).path.replace(
      '/v1/integrations/lonely/installations',
      '',
    )
    for (const source of [
      'https://a.example/teams',
      '//a.example/teams',
      `${annex.url}/v1/me`,
      `${annex.url}/x/lonely${other}/teams`,
      `${annex.url}/x/cards/teams`,
      'javascript:alert(1)',
    ]) {
      assert.equal(await ask(block(), source, reader), 422, source)
    }
    assert.equal(await ask(block(), '/teams', stranger), 404)
    assert.equal(await ask(block(), '/none', reader), 502)
  })
})
