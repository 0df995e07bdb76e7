// tier: console (it reads the reference in a browser)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { toCurl } from '../../host/console/app/deliveries/curl.ts'
import { toReference } from '../../host/console/app/reference/to-reference.ts'
import { toRequest } from '../../host/console/app/reference/to-request.ts'
import { loadApi } from '../../schemas/api.ts'
import { levelOperations } from '../../schemas/generated/api/operations.ts'
import { findBarriers, overflowOf } from '../support/axe.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, type Tab } from '../support/console.ts'

const { document, operations } = loadApi()

describe('the reference of the API', () => {
  it('has each operation once, and those of a site or a space beside that of the account', () => {
    const listed = toReference(document).resources.flatMap((resource) =>
      resource.operations.map(({ id }) => id),
    )
    const others = Object.values(levelOperations).flatMap(({ site, space }) => [site, space])
    assert.deepEqual([...listed, ...others].toSorted(), operations.map(({ id }) => id).toSorted())
  })

  it('makes a request of what is typed', () => {
    const operation = operations.find(({ id }) => id === 'createOrganizationToken')
    assert.ok(operation)
    const made = (parameters: Record<string, string>, body = '') =>
      toRequest(operation, { parameters, body }, 'https://annex.example')
    assert.equal(made({ org: 'a/b ?' }).url, 'https://annex.example/v1/orgs/a%2Fb%20%3F/tokens')
    assert.equal(made({}).url, 'https://annex.example/v1/orgs/{org}/tokens')
    assert.deepEqual([made({}).body, made({}, '{}').body], [undefined, '{}'])
    assert.match(
      toCurl(made({ org: 'a' }, '{}')),
      /^curl --globoff \S+ \\\n {2}--header "authorization: Bearer \$ANNEX_TOKEN"/,
    )
  })
})

describe('the reference in the console', { skip: skipWithoutChromium() }, () => {
  let opened: OpenConsole
  let reader: Tab
  before(async () => {
    opened = await openConsole()
    reader = await opened.asMember('home', 'reader')
  })
  after(() => opened.close())

  const answer = ({ page }: Tab) => page.locator('pre.answer')

  it('is found at /docs, and searched', async () => {
    await reader.goto('/docs')
    await reader.page.waitForURL('**/orgs/home/docs')
    await reader.page.getByRole('link', { name: 'List deliveries' }).waitFor()
    await reader.page.getByRole('searchbox').fill('receiver pause')
    await reader.page.waitForURL('**/docs?find=receiver+pause')
    await reader.page.getByRole('link', { name: 'List deliveries' }).waitFor({ state: 'detached' })
    await reader.page.getByRole('link', { name: 'Pause a receiver' }).click()
    await reader.page.waitForURL('**/docs/pauseReceiver')
    await reader.page.goBack()
    await reader.page.getByRole('searchbox').fill('no such words')
    await reader.page.getByText('Nothing matches this filter.').waitFor()
  })

  it('shows what an operation takes, and sends it with the session', async () => {
    await reader.goto('/docs/listMembersInOrganizationById')
    await reader.page.getByRole('button', { name: 'Send GET' }).click()
    await answer(reader).waitFor()
    assert.match((await answer(reader).textContent()) ?? '', /"email": "reader-1@example\.com"/)
    await reader.page.getByLabel('org', { exact: true }).fill('elsewhere')
    await reader.page.getByRole('button', { name: 'Send GET' }).click()
    await reader.page.getByText('There is no organization elsewhere').waitFor()
    assert.equal(await answer(reader).count(), 0)
    assert.deepEqual(reader.refused.splice(0), [404])
  })

  it('disables what the role may not do, a stream, and what a script alone may do', async () => {
    const reasons: Record<string, RegExp> = {
      addMemberToOrganizationById: /^This needs the role admin/,
      followDeliveries: /^This answer is a stream/,
      createIntegrationInstallationToken: /^A script’s token alone/,
    }
    for (const [id, reason] of Object.entries(reasons)) {
      await reader.goto(`/docs/${id}`)
      const button = reader.page.getByRole('button', { name: /^Send/ })
      assert.match((await button.getAttribute('title')) ?? '', reason, id)
    }
  })

  it('keeps a body that is no JSON, and says what is wrong', async () => {
    const operator = await opened.asOperator()
    await operator.goto('/docs/createOrganization')
    await operator.page.getByLabel('Body').fill('{ "subdomain": ')
    await operator.page.getByRole('button', { name: 'Send POST' }).click()
    await operator.page.getByText('The body is no JSON').waitFor()
    await operator.page.getByLabel('Body').fill('{ "subdomain": "made", "title": "Made" }')
    await operator.page.getByRole('button', { name: 'Send POST' }).click()
    await answer(operator).waitFor()
    assert.match((await answer(operator).textContent()) ?? '', /"subdomain": "made"/)
    await operator.close()
  })

  it('says which operation or record there is not', async () => {
    await reader.goto('/docs/nothing')
    await reader.page.getByText('The API has no operation nothing.').waitFor()
    await reader.goto('/docs/records/constructor')
    await reader.page.getByText('The API has no record constructor.').waitFor()
    assert.deepEqual([reader.said, reader.refused], [[], []])
  })

  for (const [width, colorScheme] of [
    [1280, 'light'],
    [375, 'dark'],
  ] as const) {
    it(`has no barrier and no overflow at ${width} px, ${colorScheme}`, async () => {
      const tab = await opened.asOperator({ width, colorScheme })
      const shown = {
        '/docs': 'Accounts',
        '/docs/putInstallationSetting': 'Try it',
        '/docs/records/Delivery': 'Meaning',
      }
      for (const [path, text] of Object.entries(shown)) {
        await tab.goto(path)
        await tab.page.getByText(text, { exact: true }).first().waitFor()
        assert.deepEqual(await findBarriers(tab.page), [], path)
        assert.ok((await overflowOf(tab.page)) <= 0, `${path} is wider than the window`)
      }
      assert.deepEqual([tab.said, tab.refused], [[], []])
      await tab.close()
    })
  }
})
