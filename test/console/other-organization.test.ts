// tier: console (it opens records of one organization under the address of another)
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { installSample, until } from '../support/annex.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, type Tab } from '../support/console.ts'

/** A request queues a delivery and a task that fails. */
const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (_request, { integration }) => {
    console.log('A line of home')
    await integration.queueDelivery({ url: 'http://127.0.0.1:9/', event: { type: 'told_by_home' } })
    await integration.queueTask({ task: { of: 'home' } })
    return new Response('done')
  },
  task: () => {
    throw new Error('The task of home fails')
  },
})`

/** Each page of a record: its route without the organization, and a text of the record. */
const records: Record<string, RegExp> = {
  '/deliveries/:delivery': /told_by_home/,
  '/dispatches/:dispatch': /A line of home/,
  '/failed-work/:job': /The task of home fails/,
  '/receivers/:receiver': /127\.0\.0\.1:9/,
  '/installations/:installation/:rest*': /secret-plans/,
  '/integrations/:integration': /A plugin of a test/,
  '/integrations/:integration/install': /Where/,
  '/sites/:site/:rest*': /Sample site/,
  '/spaces/:space/:rest*': /Sample handbook/,
}
/** They describe the API, and no record of an organization. */
const withoutRecord: ReadonlySet<string> = new Set(['/docs/records/:record', '/docs/:operation'])

describe('a record of one organization under the address of another', { skip: skipWithoutChromium() }, () => {
  const ends = new AsyncDisposableStack()
  let opened: OpenConsole
  let operator: Tab
  let ids: Record<string, string>
  before(async () => {
    opened = await openConsole({
      plugins: { 'secret-plans': { script, visibility: 'private' } },
      flags: { DELIVERY_RETRY_SECONDS: '0.1' },
    })
    ends.defer(opened.close)
    const { annex } = opened
    const { id, endpoint } = await installSample(annex, 'secret-plans')
    await fetch(endpoint)
    const first = async (path: string) =>
      (
        await until(
          () => annex.api('GET', path),
          ({ json }) => json.count > 0,
          20,
        )
      ).json.items[0]
    const delivery = await first('/v1/deliveries')
    ids = {
      delivery: delivery.id,
      dispatch: delivery.request,
      job: (await first('/v1/jobs')).id,
      receiver: delivery.receiver,
      installation: id,
      integration: 'secret-plans',
      site: annex.server.samples.site ?? '',
      space: annex.server.samples.space ?? '',
    }
    await annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })
    operator = await opened.asOperator()
  })
  after(() => ends.disposeAsync())

  const addressOf = (org: string, route: string) =>
    `/orgs/${org}${route.replace('/:rest*', '').replace(/:(\w+)/, (_, name) => ids[name] ?? '')}`
  const textOf = async (): Promise<string> => (await operator.page.locator('main').allInnerTexts()).join('')

  it('is tried for each page of a record that the console has', () => {
    const source = readFileSync(new URL('../../host/console/app/app.tsx', import.meta.url), 'utf8')
    const routes = [...source.matchAll(/path="\/orgs\/:org(\/[\w-]+\/:[^"]+|\/docs\/records\/:[^"]+)"/g)]
    const found = routes.map(([, route = '']) => route).filter((route) => !withoutRecord.has(route))
    assert.deepEqual(found.sort(), Object.keys(records).sort())
  })

  for (const [route, text] of Object.entries(records)) {
    it(`is not shown to an operator: ${route}`, async () => {
      const { page } = operator
      await operator.goto(addressOf('home', route))
      await until(textOf, (shown) => text.test(shown), 20)
      await operator.goto(addressOf('other', route))
      await page.getByText('that you may see').first().waitFor()
      const shown = await textOf()
      assert.doesNotMatch(shown, text)
      assert.equal(await page.locator('main .chip').count(), 0, shown)
      assert.deepEqual(operator.said.splice(0), [])
    })
  }

  it('is a 404 of the API for a session that names the other one, and stays open without the name', async () => {
    const paths = [
      `/v1/deliveries/${ids.delivery}`,
      `/v1/deliveries/${ids.delivery}/attempts`,
      `/v1/jobs/${ids.job}`,
      `/v1/receivers/${ids.receiver}`,
      `/v1/installations/${ids.installation}`,
      `/v1/integrations/secret-plans`,
      `/v1/integrations/secret-plans/installations/${ids.installation}`,
      `/v1/integrations/secret-plans/versions`,
      `/v1/spaces/${ids.space}`,
      `/v1/orgs/other/sites/${ids.site}`,
    ]
    const { context } = operator
    const statusOf = async (path: string, organization?: string) => {
      const headers: Record<string, string> =
        organization === undefined ? {} : { 'annex-organization': organization }
      return (await context.request.get(path, { headers })).status()
    }
    for (const path of paths) {
      const isThere = !path.endsWith('/attempts') && !path.startsWith('/v1/orgs/other')
      assert.equal(await statusOf(path, 'other'), 404, path)
      if (!isThere) continue
      for (const name of [undefined, '', 'home'])
        assert.equal(await statusOf(path, name), 200, `${path} ${name}`)
      assert.equal(await statusOf(path, 'nowhere'), 404, path)
    }
    const lists = ['/v1/logs', '/v1/receipts', '/v1/deliveries']
    for (const list of lists) {
      const count = async (organization: string) => {
        const headers = { 'annex-organization': organization }
        const path = `${list}?request=${ids.dispatch}`
        return (await (await context.request.get(path, { headers })).json()).count
      }
      assert.deepEqual([(await count('home')) > 0, await count('other')], [true, 0], list)
    }
    const run = await context.request.post(`/v1/jobs/${ids.job}/run`, {
      headers: { 'annex-organization': 'other', 'sec-fetch-site': 'same-origin', origin: opened.url },
    })
    assert.equal(run.status(), 404, 'a change is refused, too')
  })
})
