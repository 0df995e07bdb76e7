import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, startAnnex } from '../support/annex.ts'

const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: (request) => new Response('', { status: request.url.endsWith('/wrong') ? 500 : 200 }),
})`

describe('the activity of Annex', () => {
  let annex: Annex
  let token: string
  before(async () => {
    annex = await startAnnex({ plugins: { answers: { script } } })
    const { endpoint } = await installSample(annex, 'answers')
    const reach = annex.url + new URL(endpoint).pathname
    for (const path of ['', '/a', '/wrong']) await (await fetch(reach + path)).text()
    token = (await annex.api('POST', '/v1/orgs/home/tokens', { role: 'reader' })).json.token
  })
  after(() => annex.close())

  const read = async (query: string, as?: string) =>
    (await annex.api('GET', `/v1/activity${query}`, undefined, as)).json

  it('has the requests of an organization by the hour', async () => {
    const activity = await read('?span=day', token)
    const [point] = activity.points
    assert.equal(activity.organization, annex.server.samples.organization)
    assert.equal(activity.stepSeconds, 3_600)
    assert.deepEqual([point.requests, point.failedRequests, point.attempts], [3, 1, 0])
    assert.ok(point.requestMs.p50 >= 1 && point.requestMs.p99 >= point.requestMs.p50, JSON.stringify(point))
    assert.deepEqual(point.attemptMs, {})
  })

  it('has all requests by the minute, for an operator alone', async () => {
    const activity = await read('?span=hour')
    assert.deepEqual([activity.organization, activity.stepSeconds], [null, 60])
    const sum = activity.points.reduce((all: number, { requests }: { requests: number }) => all + requests, 0)
    assert.equal(sum, 3)
    assert.deepEqual(
      [(await read('?span=day')).stepSeconds, (await read('?span=week')).stepSeconds],
      [600, 3_600],
    )
    assert.equal((await read('?span=hour&organization=home')).organization, annex.server.samples.organization)
  })

  it('is not shown to another organization', async () => {
    const { id } = (await annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'O' })).json
    const theirs = (await annex.api('POST', `/v1/orgs/${id}/tokens`, { role: 'admin' })).json.token
    assert.deepEqual((await read('', theirs)).points, [])
    assert.equal((await annex.api('GET', '/v1/activity?organization=home', undefined, theirs)).status, 404)
  })
})
