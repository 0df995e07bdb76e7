import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Answered, installSample, type Json, startAnnex, until } from '../support/annex.ts'

const counter = `
import { createComponent, createIntegration, ExposableError } from '@annex/runtime'
const counter = createComponent({
  componentId: 'counter',
  initialState: ({ from = 0 }) => ({ count: from }),
  action: ({ state }, { action, by }) => {
    if (action === 'add') return { state: { count: state.count + by } }
    if (action === 'done') return { type: 'complete', returnValue: state }
  },
  render: (element, { environment }) => {
    const { name } = element.props
    if (name === 'thrower') throw new Error('with a secret')
    if (name === 'teller') throw new ExposableError('no such name', 422)
    if (element.state.count < 10) element.setCache({ maxAge: 60 })
    const at = environment.spaceInstallation?.space ?? environment.siteInstallation?.site ?? 'account'
    return { type: 'block', children: [at, element.context, element.dynamicState('count')] }
  },
})
const mirror = createComponent({
  componentId: 'mirror',
  render: async (element, { api, environment }) => {
    const path = '/integrations/counter/installations/' + environment.installation.id + '/render'
    const { data } = await api.request({ method: 'POST', path, body: { componentId: 'mirror' } })
    return data
  },
})
const settings = createComponent({
  componentId: 'settings',
  initialState: ({ siteInstallation, installation }) =>
    ({ level: siteInstallation?.site ?? installation.id, kept: Object.keys(siteInstallation?.configuration ?? {}) }),
  render: () => ({ type: 'configuration' }),
})
export default createIntegration({ components: [counter, mirror, settings] })`

/** Answers without the SDK. */
const hostile = `
import { createIntegration } from '@annex/runtime'
createIntegration({})
const answers = {
  html: () => new Response('<script>alert(1)</script>', { headers: { 'content-type': 'text/html' } }),
  deep: () => new Response('{"type":"element","element":' + '['.repeat(1e5) + ']'.repeat(1e5) + '}'),
  list: () => new Response('[]'),
  text: () => Response.json({ type: 'element', element: 'text' }),
  huge: () => new Response('{"type":"' + 'x'.repeat(5e6) + '"}'),
  endless: () => new Response(new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(1e5)) })),
  redirect: () => Response.redirect('https://elsewhere.example'),
  nothing: () => undefined,
}
const dispatch = async (event) => event.type === 'annex_describe' ? { value: { events: [] } } : answers[event.componentId]?.()
export default { [Symbol.for('annex.dispatch')]: dispatch }`

/** Facts of the host, as a caller may send them. */
const lies = {
  ...{ organizationId: 'org_of_another', installationId: 'inst_of_another', user: { id: 'admin' } },
  ...{ siteId: 'site_of_another', spaceId: 'space_of_another' },
}

describe('a component', () => {
  let annex: Annex
  let path: string
  let inSite: string
  let inSpace: string
  let ofHostile: string
  before(async () => {
    annex = await startAnnex({
      plugins: {
        counter: { script: counter, more: 'configurations: { site: { componentId: settings } }' },
        hostile: { script: hostile },
      },
    })
    const installed = await installSample(annex, 'counter', 'space')
    inSpace = installed.path
    path = `/v1/integrations/counter/installations/${installed.id}`
    const { site } = annex.server.samples
    assert.equal((await annex.api('POST', `${path}/sites`, { site })).status, 201)
    inSite = `${path}/sites/${site}`
    ofHostile = (await installSample(annex, 'hostile')).path
  })
  after(() => annex.close())

  const render = (of: string, body: object, token?: string): Promise<Answered> =>
    annex.api('POST', `${of}/render`, body, token)
  const logOf = async (request: string): Promise<string[]> =>
    (await annex.api('GET', `/v1/logs?request=${request}`)).json.items.map(({ text }: Json) => text)
  const receiptOf = async (request: string): Promise<Json> =>
    until(
      async () => (await annex.api('GET', `/v1/receipts?request=${request}`)).json.items[0],
      (receipt) => receipt !== undefined,
    )

  it('is rendered with its properties, and has its max-age', async () => {
    const { status, json, headers } = await render(path, { componentId: 'counter', props: { from: 3 } })
    assert.equal(status, 200)
    const { organization } = annex.server.samples
    const context = { type: 'document', theme: 'light', organizationId: organization, editable: false }
    assert.deepEqual(json, {
      type: 'element',
      state: { count: 3 },
      props: { from: 3 },
      element: { type: 'block', children: ['account', context, { $state: 'count' }] },
    })
    assert.equal(headers.get('cache-control'), 'max-age=60')
    const receipt = await receiptOf(headers.get('x-request-id') ?? '')
    assert.deepEqual([receipt.type, receipt.outcome, receipt.status], ['ui_render', 'ok', 200])
  })

  it('acts on its state, and is not cached by default', async () => {
    const action = { action: 'add', by: 4 }
    const { json, headers } = await render(path, { componentId: 'counter', state: { count: 8 }, action })
    assert.deepEqual(json.state, { count: 12 })
    assert.equal(headers.get('cache-control'), 'no-store')
    const done = await render(path, {
      componentId: 'counter',
      state: { count: 8 },
      action: { action: 'done' },
    })
    assert.deepEqual(done.json, { type: 'complete', returnValue: { count: 8 } })
  })

  it('sees its site or space, and the context of the caller', async () => {
    const { site, space } = annex.server.samples
    const ofSpace = await render(inSpace, {
      componentId: 'counter',
      context: { ...lies, editable: true, theme: 'dark' },
    })
    const [at, context] = ofSpace.json.element.children
    const { organization } = annex.server.samples
    assert.deepEqual(context, {
      ...{ type: 'document', theme: 'dark', editable: true },
      ...{ organizationId: organization, spaceId: space },
    })
    assert.deepEqual([at, context.spaceId, context.editable, context.theme], [space, space, true, 'dark'])
    assert.equal((await render(inSite, { componentId: 'counter' })).json.element.children[0], site)
  })

  it('for settings gets the installation as a property, which the answer omits', async () => {
    const { site, space } = annex.server.samples
    const { json } = await render(inSite, { componentId: 'settings', props: { mine: 1 } })
    assert.deepEqual([json.state.level, json.props], [site, { mine: 1 }])
    const forged = { siteInstallation: { site: 'forged' } }
    assert.equal((await render(inSite, { componentId: 'settings', props: forged })).json.state.level, site)
    assert.ok(space)
  })

  it('with an unknown name is a 404', async () => {
    for (const [of, componentId] of [
      [path, 'other'],
      [inSite, '__proto__'],
    ]) {
      const { status, json } = await render(`${of}`, { componentId })
      assert.deepEqual([status, json.error.code], [404, 'not_found'])
    }
  })

  it('that throws is logged, and its caller gets only the request id', async () => {
    const { status, json, text } = await render(path, { componentId: 'counter', props: { name: 'thrower' } })
    assert.deepEqual([status, json.error.code], [500, 'script_failed'])
    assert.doesNotMatch(text, /secret/)
    const [line] = await logOf(json.error.requestId)
    assert.match(line ?? '', /^Error: with a secret/)
  })

  it('may show an error of its own', async () => {
    const { status, json } = await render(path, { componentId: 'counter', props: { name: 'teller' } })
    assert.deepEqual([status, json.error.code, json.error.message], [422, 'script_error', 'no such name'])
    assert.deepEqual(await logOf(json.error.requestId), [])
  })

  it('accepts properties up to the size of a body', async () => {
    const props = { from: 1, text: 'x'.repeat(1_000_000) }
    const { status, json } = await render(path, { componentId: 'counter', props })
    assert.deepEqual([status, json.props?.text?.length], [200, 1_000_000])
    const larger = await render(path, { componentId: 'counter', props: { text: 'x'.repeat(1_100_000) } })
    assert.deepEqual([larger.status, larger.json.error.code], [413, 'body_too_large'])
  })

  it('that renders itself over the API ends after eight scripts', async () => {
    const { json } = await render(path, { componentId: 'mirror' })
    assert.equal(json.error.code, 'script_failed')
    const { json: log } = await annex.api('GET', '/v1/logs?integration=counter')
    const lines: string[] = log.items.map(({ text }: Json) => text)
    assert.ok(
      lines.some((line) => /gone through 8 scripts/.test(line)),
      lines.join('\n'),
    )
  })

  it('is closed to other organizations', async () => {
    const other = await annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })
    const { token } = (await annex.api('POST', `/v1/orgs/${other.json.id}/tokens`, { label: 'o' })).json
    assert.equal((await render(path, { componentId: 'counter' }, token)).status, 404)
    assert.equal((await render(path, { componentId: 'counter' }, '')).status, 401)
  })

  it('refuses an invalid body', async () => {
    for (const body of [
      {},
      { componentId: 1 },
      { componentId: 'counter', state: [] },
      { componentId: 'c', x: 1 },
    ]) {
      assert.equal((await render(path, body)).status, 422, JSON.stringify(body))
    }
  })

  for (const [componentId, code] of Object.entries({
    html: 'script_failed',
    deep: 'script_failed',
    list: 'script_failed',
    text: 'script_failed',
    huge: 'answer_too_large',
    endless: 'answer_too_large',
    redirect: 'script_failed',
    nothing: 'script_failed',
  })) {
    it(`with the answer "${componentId}" is ${code}, with a log line`, async () => {
      const { json } = await render(ofHostile, { componentId })
      assert.equal(json.error.code, code)
      assert.equal((await logOf(json.error.requestId)).length, 1)
    })
  }
})
