// tier: console (it installs in a browser, as a person does)
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, type Tab } from '../support/console.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { plugin, shop } from './catalogue-plugins.ts'

const plain = (name: string, more = '') =>
  plugin(name, `title: Tool ${name}\ndescription: Of a test.\nvisibility: public\nscopes: []\n${more}`)
const pageOf = (name: string, query = '') => `/orgs/home/integrations/${name}/install${query}`
const query = ({ page }: Tab) => Object.fromEntries(new URL(page.url()).searchParams)
const agreeAnd = (tab: Tab, where: string) =>
  tab.page.getByRole('button', { name: `Agree and install in ${where}`, exact: true })
const title = 'x'.repeat(200)

describe('installing in the console', { skip: skipWithoutChromium() }, () => {
  let opened: OpenConsole
  let admin: Tab
  before(async () => {
    opened = await openConsole({
      plugins: {
        shop: shop('"space:content:read"'),
        ...{ everywhere: plain('everywhere'), changing: plain('changing'), halfway: plain('halfway') },
        ...{
          asked: plain('asked'),
          keys: plain('keys'),
          waiting: plain('waiting'),
          whole: plain('whole', 'target: organization'),
        },
        retired: plain('retired'),
      },
    })
    for (const slug of ['blog', 'gone'])
      await opened.annex.api('POST', '/v1/orgs/home/sites', { slug, title: `The ${slug}` })
    await opened.annex.api('POST', '/v1/orgs/home/sites', { slug: 'long', title })
    admin = await opened.asMember('home', 'admin')
  })
  after(() => opened?.close())

  const installationOf = async (name: string) => {
    const { items } = (await opened.annex.api('GET', `/v1/integrations/${name}/installations`)).json
    return items[0]
  }
  const slugsOf = async (name: string): Promise<string[]> => {
    const { id } = await installationOf(name)
    const { items } = (await opened.annex.api('GET', `/v1/integrations/${name}/installations/${id}/sites`))
      .json
    const sites = (await opened.annex.api('GET', '/v1/orgs/home/sites')).json.items
    const slugs = new Map<string, string>(
      sites.map((one: { id: string; slug: string }) => [one.id, one.slug]),
    )
    return items.map(({ site }: { site: string }) => slugs.get(site) ?? '').toSorted()
  }

  it('asks where, then for the agreement, and leads to the settings', async () => {
    const { page } = admin
    await admin.goto('/orgs/home/integrations/shop')
    await page.getByRole('link', { name: 'Install', exact: true }).click()
    await page.getByLabel('Sample site').check()
    await page.getByLabel('The blog').check()
    await page.getByText('Chosen: Sample site, The blog.').waitFor()
    assert.deepEqual(query(admin), { sites: 'sample,blog' })
    await page.reload()
    await page.getByText('Chosen: Sample site, The blog.').waitFor()
    await page.getByRole('link', { name: 'Read what it asks for' }).click()
    await page.getByText('Version 1 asks for your agreement.').waitFor()
    for (const sentence of ['Read the content of the spaces', 'Send data to api.shop.example.'])
      await page.getByText(sentence).waitFor()
    await page.goBack()
    await page.getByLabel('The blog').uncheck()
    await page.goForward()
    await page.reload()
    // The way forward has the choices of its time.
    await agreeAnd(admin, 'Sample site, The blog').waitFor()
    await page.getByRole('link', { name: 'Change: Where' }).click()
    await page.getByLabel('The blog').uncheck()
    await page.getByRole('link', { name: 'Read what it asks for' }).click()
    await agreeAnd(admin, 'Sample site').click()
    await page.getByText('Your organization has agreed to version 1.').waitFor()
    await page.getByRole('cell', { name: 'Pending' }).waitFor()
    const { id } = await installationOf('shop')
    assert.deepEqual(await slugsOf('shop'), ['sample'])
    const settings = page.getByRole('link', { name: 'Open the settings of Sample site' })
    const { site } = opened.annex.server.samples
    assert.equal(await settings.getAttribute('href'), `/orgs/home/installations/${id}/sites/${site}`)
  })

  it('shows each signing secret until the page is left, and in no address', async () => {
    const { page } = admin
    await page.getByText('Signing secrets, shown only now').click()
    const secrets = await page.getByText(/^whsec_/).allTextContents()
    assert.equal(secrets.length, 2)
    for (const secret of secrets) assert.ok(!page.url().includes(secret))
    await page.reload()
    await page.getByText('Your organization has agreed to version 1.').waitFor()
    assert.equal(await page.getByText(/^whsec_/).count(), 0)
  })

  it('installs in a further site without a second agreement', async () => {
    const { page } = admin
    await admin.goto(pageOf('shop', '?sites=blog,sample'))
    const sample = page.getByLabel('Sample site')
    assert.deepEqual([await sample.isChecked(), await sample.isDisabled()], [true, true])
    await page.getByRole('link', { name: 'Read what it asks for' }).click()
    await page.getByRole('button', { name: 'Install in The blog', exact: true }).click()
    await page.getByRole('link', { name: 'The blog', exact: true }).waitFor()
    assert.deepEqual(await slugsOf('shop'), ['blog', 'sample'])
    await admin.goto(pageOf('shop', '?sites=blog,sample&step=agree'))
    await page.getByText('It is installed in each place that you chose.').waitFor()
    assert.equal(await page.getByRole('button', { name: /Install in/ }).count(), 0)
  })

  it('says which step failed, keeps those that are done, and tries the rest again', async () => {
    const { page } = admin
    await admin.goto(pageOf('halfway', '?step=agree&sites=sample,gone,blog'))
    await agreeAnd(admin, 'Sample site, The blog, The gone')
      .or(agreeAnd(admin, 'Sample site, The gone, The blog'))
      .waitFor()
    const sites = (await opened.annex.api('GET', '/v1/orgs/home/sites')).json.items
    const { id } = sites.find(({ slug }: { slug: string }) => slug === 'gone')
    const deleted = await opened.annex.api('DELETE', `/v1/orgs/home/sites/${id}`)
    assert.equal(deleted.status, 200, deleted.text)
    await page.getByRole('button', { name: /^Agree and install in/ }).click()
    await page.getByText('This failed: install in The gone.').waitFor()
    assert.ok((await slugsOf('halfway')).includes('sample'))
    const rest = page.getByRole('button', { name: 'Install in The blog', exact: true })
    const done = page.getByText('It is installed in each place that you chose.')
    await rest.or(done).waitFor()
    if (await rest.isVisible()) await rest.click()
    else await page.getByRole('link', { name: 'Go to its settings' }).click()
    await page.getByRole('link', { name: 'The blog', exact: true }).waitFor()
    assert.deepEqual(await slugsOf('halfway'), ['blog', 'sample'])
    assert.deepEqual(admin.refused.splice(0), [404])
  })

  it('installs in all sites, and in those to come', async () => {
    const { page } = admin
    await admin.goto(pageOf('everywhere', '?sites=blog'))
    await page.getByLabel('All sites, and those to come').check()
    const blog = page.getByLabel('The blog')
    assert.deepEqual([await blog.isChecked(), await blog.isDisabled()], [true, true])
    await page.getByRole('link', { name: 'Read what it asks for' }).click()
    await agreeAnd(admin, 'all sites').click()
    await page.getByText('Your organization has agreed to version 1.').waitFor()
    assert.equal((await installationOf('everywhere')).site_selection, 'all')
    assert.deepEqual(await slugsOf('everywhere'), ['blog', 'long', 'sample'])
  })

  it('says where an integration is in no site or space', async () => {
    await admin.goto(pageOf('whole', '?sites=sample'))
    await admin.page.getByText('It works for all of Home, and is in no site or space.').waitFor()
    assert.equal(await admin.page.getByRole('checkbox').count(), 0)
    await admin.page.getByRole('link', { name: 'Read what it asks for' }).click()
    await agreeAnd(admin, 'Home').click()
    await admin.page.getByText('Your organization has agreed to version 1.').waitFor()
    assert.ok((await installationOf('whole')).id)
  })

  it('shows what a version asks for that came while the installer read', async () => {
    const { page } = admin
    await admin.goto(pageOf('changing', '?step=agree'))
    await agreeAnd(admin, 'Home').waitFor()
    const scopes = 'title: Tool changing\ndescription: x\nvisibility: public\nscopes: ["site:views:read"]'
    writePlugin(opened.annex.pluginsDir, 'changing', plugin('changing', scopes))
    await opened.annex.api('POST', '/v1/reload')
    await agreeAnd(admin, 'Home').click()
    await page.getByText('Another version came while you read.').waitFor()
    await page.getByText('Version 2 asks for your agreement.').waitFor()
    await page.getByText('Read the visits of the sites').waitFor()
    assert.equal(await installationOf('changing'), undefined)
    await agreeAnd(admin, 'Home').click()
    await page.getByText('Your organization has agreed to version 2.').waitFor()
    assert.deepEqual(admin.refused.splice(0), [409])
  })

  it('lets a reader ask an admin, who opens the same choices by the link', async () => {
    const reader = await opened.asMember('home', 'reader')
    await reader.goto(pageOf('asked'))
    await reader.page.getByLabel('The blog').check()
    await reader.page.getByRole('link', { name: 'Read what it asks for' }).click()
    await reader.page.getByText('This needs the role admin, and you have the role reader.').waitFor()
    const button = agreeAnd(reader, 'The blog')
    assert.equal(await button.getAttribute('aria-disabled'), 'true')
    await button.click({ force: true })
    const link = (await reader.page.locator('.note code').textContent()) ?? ''
    assert.equal(await installationOf('asked'), undefined)
    await admin.page.goto(link)
    await agreeAnd(admin, 'The blog').click()
    await admin.page.getByText('Your organization has agreed to version 1.').waitFor()
    assert.deepEqual(await slugsOf('asked'), ['blog'])
    assert.deepEqual([reader.said, reader.refused], [[], []])
    await reader.close()
  })

  it('lets an editor install in a further site while a version waits for an admin', async () => {
    const { annex } = opened
    const body = { organization: 'home', ...(await agreementTo(annex, 'waiting')) }
    await annex.api('POST', '/v1/integrations/waiting/installations', body)
    const scopes = 'title: Tool waiting\ndescription: x\nvisibility: public\nscopes: ["site:views:read"]'
    writePlugin(annex.pluginsDir, 'waiting', plugin('waiting', scopes))
    await annex.api('POST', '/v1/reload')
    const editor = await opened.asMember('home', 'editor')
    await editor.goto(pageOf('waiting', '?step=agree'))
    await editor.page.getByText('Until an admin agrees, version 1 runs.').waitFor()
    await editor.page.getByText('Ask an admin').waitFor()
    await editor.goto(pageOf('waiting', '?step=agree&sites=blog'))
    await editor.page.getByRole('button', { name: 'Install in The blog', exact: true }).click()
    await editor.page.getByRole('link', { name: 'The blog', exact: true }).waitFor()
    assert.deepEqual(await slugsOf('waiting'), ['blog'])
    await admin.goto(pageOf('waiting', '?step=agree'))
    await admin.page.getByRole('button', { name: 'Agree to version 2' }).click()
    await admin.page.getByText('Your organization has agreed to version 2.').waitFor()
    assert.deepEqual([editor.said, editor.refused], [[], []])
    await editor.close()
  })

  it('offers no installation of an integration whose folder is gone', async () => {
    const { annex } = opened
    rmSync(`${annex.pluginsDir}/retired`, { recursive: true })
    await annex.api('POST', '/v1/reload')
    await admin.goto('/orgs/home/integrations/retired')
    await admin.page.getByText('Nothing can be installed: its folder is gone').waitFor()
    assert.equal(await admin.page.getByRole('link', { name: 'Install', exact: true }).count(), 0)
    await admin.goto(pageOf('retired', '?step=agree'))
    await admin.page.getByText('Nothing can be installed: its folder is gone').waitFor()
  })

  it('is done with the keyboard alone', async () => {
    const { page } = admin
    await admin.goto(pageOf('keys'))
    await page.getByLabel('Sample site').focus()
    await page.keyboard.press('Space')
    await page.getByText('Chosen: Sample site.').waitFor()
    await page.getByRole('link', { name: 'Read what it asks for' }).focus()
    await page.keyboard.press('Enter')
    await agreeAnd(admin, 'Sample site').focus()
    await page.keyboard.press('Enter')
    await page.getByText('Your organization has agreed to version 1.').waitFor()
    assert.deepEqual([admin.said, admin.refused], [[], []])
  })
})
