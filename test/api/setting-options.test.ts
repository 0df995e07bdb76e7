import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Json, startAnnex } from '../support/annex.ts'

/** Answers choices at `/…/NAME`, and hostile answers too. */
const script = `
import { createIntegration, ExposableError } from '@annex/runtime'
const all = Array.from({ length: 5 }, (_, n) => ({ label: 'Channel ' + n, value: 'c' + n, icon: 'dropped' }))
const html = { headers: { 'content-type': 'text/html' } }
const answers = {
  plain: () => Response.json(all),
  paged: ({ searchParams }, { environment }) => {
    if (environment.siteInstallation?.configuration.down) throw new ExposableError('The provider is down', 503)
    const page = Number(searchParams.get('page') ?? 0)
    const value = searchParams.get('value')
    const options = value === null ? all.slice(page * 2, page * 2 + 2) : all.filter((one) => one.value === value)
    return Response.json({ options, ...(page < 2 && value === null && { next: String(page + 1) }) })
  },
  echo: ({ href }) => Response.json([{ label: href, value: 'href' }]),
  slow: async () => { await new Promise((resolve) => setTimeout(resolve, 20_000)); return Response.json([]) },
  huge: () => new Response('"' + 'x'.repeat(2 * 1024 * 1024) + '"'),
  many: () => Response.json(Array.from({ length: 1001 }, (_, n) => ({ label: 'l' + n, value: 'v' + n }))),
  html: () => new Response('<p>Sign in first</p>', html),
  redirect: () => Response.redirect('https://evil.example/'),
  broken: () => Response.json([{ label: 'one', value: 'v1' }, { label: 'two' }]),
  other: () => Response.json({ items: [] }),
  failing: () => new Response('no', { status: 500 }),
}
export default createIntegration({
  fetch: (request, context) => {
    const url = new URL(request.url)
    return answers[url.pathname.split('/').at(-1)](url, context)
  },
})`

const names = [
  'plain',
  'paged',
  'echo',
  'slow',
  'huge',
  'many',
  'html',
  'redirect',
  'broken',
  'other',
  'failing',
]
const property = (name: string) =>
  `      ${name}: { type: string, completion_url: '/choices/${name}?kind=open' }`
const more = `
configurations:
  site:
    properties:
${names.map(property).join('\n')}
      down: { type: boolean }
      text: { type: string }
      few: { type: string, completion_url: /choices/plain, enum: [c1, c3, c9] }`

describe('the choices of a setting', () => {
  let annex: Annex
  let path: string
  before(async () => {
    annex = await startAnnex({ plugins: { chooser: { script, more } } })
    const { organization, site } = annex.server.samples
    const base = '/v1/integrations/chooser/installations'
    const { json } = await annex.api('POST', base, { organization, ...(await agreementTo(annex, 'chooser')) })
    await annex.api('POST', `${base}/${json.id}/sites`, { site })
    path = `${base}/${json.id}/sites/${site}`
  })
  after(() => annex.close())

  const ask = (name: string, query = '') => annex.api('GET', `${path}/configuration/${name}/options${query}`)
  const valuesOf = ({ json }: { json: Json }) => json.options.map(({ value }: Json) => value)

  it('are a list from the script, filtered by `q` and `value`', async () => {
    const { json } = await ask('plain')
    assert.equal(json.options.length, 5)
    assert.deepEqual(json.options[0], { label: 'Channel 0', value: 'c0' })
    assert.deepEqual(valuesOf(await ask('plain', '?q=NEL%203')), ['c3'])
    assert.deepEqual(valuesOf(await ask('plain', '?value=c2')), ['c2'])
    assert.deepEqual(valuesOf(await ask('plain', '?value=gone')), [])
  })

  it('come in pages if the script has pages', async () => {
    const first = await ask('paged')
    assert.deepEqual([valuesOf(first), first.json.next], [['c0', 'c1'], '1'])
    const last = await ask('paged', '?page=2')
    assert.deepEqual([valuesOf(last), last.json.next], [['c4'], undefined])
  })

  it('are read from the endpoint of the level', async () => {
    const [{ label }] = (await ask('echo', '?page=2')).json.options
    const url = new URL(label)
    assert.match(url.pathname, /^\/x\/chooser\/inst_[^/]+\/sites\/site_[^/]+\/choices\/echo$/)
    assert.equal(url.search, '?kind=open&page=2')
  })

  it('are limited to `enum` if the manifest has it', async () => {
    assert.deepEqual(valuesOf(await ask('few')), ['c1', 'c3'])
  })

  it('keep the label of a chosen value while the provider is down', async () => {
    await annex.api('PUT', `${path}/configuration/paged`, { value: 'c4' })
    assert.deepEqual((await ask('paged', '?value=c4')).json.options, [{ label: 'Channel 4', value: 'c4' }])
    assert.deepEqual((await annex.api('GET', path)).json.labels, { paged: 'Channel 4' })
    await annex.api('PUT', `${path}/configuration/down`, { value: true })
    const down = await ask('paged', '?value=c4')
    assert.deepEqual(down.json, { options: [{ label: 'Channel 4', value: 'c4' }], stale: true })
    assert.equal((await ask('paged')).status, 503)
    await annex.api('PUT', `${path}/configuration/paged`, { value: 'c1', label: 'One' })
    assert.deepEqual((await annex.api('GET', path)).json.labels, { paged: 'One' })
    await annex.api('DELETE', `${path}/configuration/paged`)
    assert.equal((await annex.api('GET', path)).json.labels, undefined)
  })

  it('confirm a typed value: an unconfirmed one is stored, and its name is listed', async () => {
    const unconfirmed = async () => (await annex.api('GET', path)).json.unconfirmed
    const set = (name: string, value: unknown, more = {}) =>
      annex.api('PUT', `${path}/configuration/${name}`, { value, ...more })
    assert.equal(await unconfirmed(), undefined)
    const stored = await set('plain', 'c9')
    assert.deepEqual([stored.status, stored.json.unconfirmed], [200, ['plain']])
    await ask('plain', '?value=c9')
    await ask('failing', '?value=c9')
    await set('text', 'c9')
    assert.deepEqual(await unconfirmed(), ['plain'], 'no choice')
    await set('plain', 'c2')
    await set('few', 'c9')
    assert.deepEqual(await unconfirmed(), ['plain', 'few'])
    await ask('plain')
    await ask('few')
    assert.deepEqual(await unconfirmed(), ['few'], 'c9 is in the enum, and no choice')
    await set('plain', 'c3')
    assert.deepEqual(await unconfirmed(), ['plain', 'few'], 'another value')
    await set('plain', 'c3', { label: 'Channel 3' })
    assert.deepEqual(await unconfirmed(), ['few'], 'chosen in a form')
    const list = await annex.api('GET', '/v1/installations')
    assert.doesNotMatch(list.text, /unconfirmed/)
    for (const name of ['plain', 'few', 'text']) await annex.api('DELETE', `${path}/configuration/${name}`)
    assert.equal(await unconfirmed(), undefined)
  })

  for (const [name, reason] of [
    ['slow', /did not come within 5 seconds/],
    ['huge', /more than 1048576 bytes/],
    ['many', /1001 entries; at most 1000/],
    ['html', /no JSON; its content type is "text\/html"/],
    ['redirect', /a redirect \(302\), which is not followed/],
    ['broken', /its entry 2 is not \{ "label", "value" \}/],
    ['other', /neither a list nor \{ "options": \[…\] \}/],
    ['failing', /it has the status 500/],
  ] as const) {
    it(`are refused with 502 for a bad answer: ${name}`, async () => {
      const { status, json } = await ask(name)
      assert.deepEqual([status, json.error.code], [502, 'options_failed'])
      assert.match(json.error.message, reason)
    })
  }

  it('are 404 for a setting without choices', async () => {
    for (const name of ['text', 'nothing', '__proto__']) assert.equal((await ask(name)).status, 404, name)
  })
})
