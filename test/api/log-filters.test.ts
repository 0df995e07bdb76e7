// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, request, startAnnex, until } from '../support/annex.ts'

/** Logs a line at a level for each request: `?level=&text=`. */
const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: (request) => {
    const given = new URL(request.url).searchParams
    console[given.get('level')](given.get('text'))
    return new Response('logged')
  },
})`

describe('the filters of a log', () => {
  const ends = new AsyncDisposableStack()
  let annex: Annex
  let stranger: string
  before(async () => {
    annex = await startAnnex({ plugins: { logs: { script } } })
    ends.defer(annex.close)
    const { endpoint } = await installSample(annex, 'logs')
    const log = (level: string, text: string) => fetch(`${endpoint}?${new URLSearchParams({ level, text })}`)
    await log('info', 'Sent 5 % of_them')
    await log('warn', 'sent late')
    await log('error', 'NOT SENT: café')
    await log('debug', "it's \\ done")
    await until(
      () => texts(''),
      ({ length }) => length === 4,
    )
    await annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })
    stranger = (await annex.api('POST', '/v1/orgs/other/tokens', { role: 'admin' })).json.token
  })
  after(() => ends.disposeAsync())

  const texts = async (query: string): Promise<string[]> =>
    (await annex.api('GET', `/v1/logs?${query}`)).json.items.map(({ text }: Json) => text)
  const withText = (text: string) => texts(`text=${encodeURIComponent(text)}`)

  it('find the lines of one level', async () => {
    assert.deepEqual(await texts('level=warn'), ['sent late'])
    assert.deepEqual(await texts('level=debug'), ["it's \\ done"])
    assert.equal((await annex.api('GET', '/v1/logs?level=fatal')).status, 400)
  })

  it('find a text in any case, and take no sign of it as a pattern', async () => {
    assert.deepEqual(await withText('sent'), ['Sent 5 % of_them', 'sent late', 'NOT SENT: café'])
    assert.deepEqual(await withText('SENT L'), ['sent late'])
    for (const [text, count] of Object.entries({
      '%': 1,
      _: 1,
      "'": 1,
      '\\': 1,
      café: 1,
      'sent%late': 0,
      '?': 0,
    }))
      assert.equal((await withText(text)).length, count, text)
    assert.deepEqual(await withText('nowhere'), [])
    assert.equal((await withText('')).length, 4, 'an empty text is in each line')
    assert.equal((await annex.api('GET', '/v1/logs?text=%00')).status, 400)
    assert.equal((await annex.api('GET', `/v1/logs?text=${'a'.repeat(201)}`)).status, 400)
  })

  it('find the lines from a time on, and those before a time', async () => {
    const { items } = (await annex.api('GET', '/v1/logs')).json
    const second = items[1].at
    const between = items.filter(({ at }: Json) => at >= second).map(({ text }: Json) => text)
    assert.deepEqual(await texts(`since=${second}`), between)
    const older = items.filter(({ at }: Json) => at < second).map(({ text }: Json) => text)
    assert.deepEqual(await texts(`until=${second}`), older)
    assert.deepEqual(await texts(`since=${second}&until=${second}`), [])
    assert.match(
      (await annex.api('GET', '/v1/logs?since=yesterday')).json.error.message,
      /since is a time such as/,
    )
  })

  it('hold on each page, also when the times are those of another second', async () => {
    const first = (await annex.api('GET', '/v1/logs?text=sent&limit=2&since=2026-01-01T00:00:00Z')).json
    assert.deepEqual(
      first.items.map(({ text }: Json) => text),
      ['sent late', 'NOT SENT: café'],
    )
    const next = `text=sent&limit=2&since=2026-01-01T00:00:01Z&page=${first.next.page}`
    assert.deepEqual(await texts(next), ['Sent 5 % of_them'])
    const other = await annex.api('GET', `/v1/logs?text=late&limit=2&page=${first.next.page}`)
    assert.equal(other.status, 400, 'a page of another filter')
  })

  it('name one organization for an operator, and show nothing of another one to its people', async () => {
    const lists = ['/v1/logs?', '/v1/jobs?', '/v1/usage?', '/v1/audit?action=installation.create&']
    for (const path of lists) {
      const of = async (organization: string) =>
        (await annex.api('GET', `${path}organization=${organization}`)).json
      const home = await of('home')
      const isFilled = !path.startsWith('/v1/jobs')
      assert.equal(home.items.length > 0, isFilled, path)
      assert.deepEqual((await of('other')).items, [], path)
      assert.equal((await annex.api('GET', `${path}organization=nowhere`)).status, 404, path)
      const theirs = await request(annex.url, 'GET', `${path}organization=home`, undefined, stranger)
      assert.equal(theirs.status, 404, path)
      assert.equal((await request(annex.url, 'GET', path, undefined, stranger)).json.items.length, 0, path)
    }
    const lines = await request(annex.url, 'GET', '/v1/audit/export?organization=home', undefined, stranger)
    assert.equal(lines.status, 404)
    const own = await annex.api('GET', '/v1/audit/export?organization=other')
    assert.doesNotMatch(own.text, /inst_/)
    assert.match(own.text, /token\.create/)
  })
})
