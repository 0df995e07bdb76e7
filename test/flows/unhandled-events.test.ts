import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

const handling = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ events: { page_feedback: () => {} } })`

const settingUp = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ events: { installation_setup: () => {} } })`

/** What it says of itself is no list: Annex does not know what it handles. */
const secretive = `
import { createIntegration } from '@annex/runtime'
const dispatch = async (event) =>
  event.type === 'annex_describe' ? { value: { events: 'page_feedback' } } : new Response('', { status: 200 })
export default { ...createIntegration({}), [Symbol.for('annex.dispatch')]: dispatch }
`

const visitor = { anonymousId: 'a', userAgent: 'test', ip: '203.0.113.7', cookies: {} }

describe('an event whose type the script does not handle', () => {
  let annex: Annex
  before(async () => {
    const scopes = ['site:views:read', 'page:feedback:read']
    annex = await startAnnex({
      plugins: {
        handling: { script: handling, scopes },
        secretive: { script: secretive, scopes },
        'setting-up': { script: settingUp, scopes },
      },
    })
  })
  after(() => annex.close())

  /** The outcomes of the installation's dispatches, by the type of their events. */
  const outcomesOf = async (id: string, count: number): Promise<Record<string, string>> => {
    const { json } = await until(
      () => annex.api('GET', `/v1/receipts?installation=${id}`),
      (answer) => answer.json.items.length >= count,
    )
    return Object.fromEntries(json.items.map(({ type, outcome }: Json) => [type, outcome]))
  }
  const publish = async (type: string) => {
    const { organization, site, space } = annex.server.samples
    const fields =
      type === 'site_view'
        ? {}
        : { spaceId: space, pageId: 'page', feedback: { rating: 'good', comment: '' } }
    const event = { type, siteId: site, url: 'https://docs.example.com/', referrer: '', visitor, ...fields }
    const { status, text } = await annex.api('POST', `/v1/events?organization=${organization}`, event)
    assert.equal(status, 202, text)
  }
  const install = async (name: string) => {
    const { id, path } = await installSample(annex, name, 'site')
    await until(
      () => annex.api('GET', path),
      ({ json }) => json.status === 'active',
    )
    return id
  }
  const loaded = () => annex.server.sandboxes.processes().reduce((sum, one) => sum + one.loaded, 0)

  it('loads no sandbox, completes the setup, and has a receipt', async () => {
    const id = await install('handling')
    await publish('site_view')
    assert.deepEqual(await outcomesOf(id, 3), {
      installation_setup: 'no_handler',
      site_installation_setup: 'no_handler',
      site_view: 'no_handler',
    })
    assert.equal(loaded(), 0)
    await publish('page_feedback')
    assert.equal((await outcomesOf(id, 4)).page_feedback, 'ok')
    assert.equal(loaded(), 1)
  })

  it('does not include the setup of a site, which the handler of the installation takes', async () => {
    const id = await install('setting-up')
    assert.deepEqual(await outcomesOf(id, 2), { installation_setup: 'ok', site_installation_setup: 'ok' })
  })

  it('is dispatched to a script that does not list its handlers', async () => {
    const id = await install('secretive')
    await publish('site_view')
    assert.equal((await outcomesOf(id, 3)).site_view, 'ok')
  })
})
