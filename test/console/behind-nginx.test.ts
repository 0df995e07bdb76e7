// tier: console (it signs in through a proxy, in a browser)
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { installSample } from '../support/annex.ts'
import { makeCertificate, skipWithoutOpenssl } from '../support/certificate.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, password, pluginsDir, type Tab } from '../support/console.ts'
import { freePort, skipWithoutNginx, startNginxAt } from '../support/nginx.ts'

const shipped = readFileSync(new URL('../../docs/deployment/nginx.conf', import.meta.url), 'utf8')
const host = 'annex.lan'

/** The file that operators copy, with their own names in it. */
const toServers = (given: { port: number; upstream: string; folder: string }): string =>
  shipped
    .replace(/server \{\s*listen 80;[\s\S]*?\n\}/, '')
    .replace('listen 443 ssl http2', `listen 127.0.0.1:${given.port} ssl http2`)
    .replace('127.0.0.1:8787', given.upstream)
    .replaceAll('annex.example.com;', `${host};`)
    .replace(/ssl_certificate .*;/, `ssl_certificate ${given.folder}/cert.pem;`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${given.folder}/key.pem;`)
    // Another port than 443 is a part of the host.
    .replace('proxy_set_header Host $host;', 'proxy_set_header Host $http_host;')

const skip = skipWithoutChromium() || skipWithoutNginx() || skipWithoutOpenssl()

describe('the console over https, behind the nginx file that Annex ships', { skip }, () => {
  const ends = new AsyncDisposableStack()
  let opened: OpenConsole
  let url: string
  let tab: Tab
  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'annex-certificate-'))
    ends.defer(() => rmSync(folder, { recursive: true, force: true }))
    makeCertificate(folder, host)
    const port = await freePort()
    url = `https://${host}:${port}`
    opened = await openConsole({ pluginsDir, flags: { PUBLIC_URL: url } })
    ends.defer(opened.close)
    const upstream = new URL(opened.annex.url).host
    ends.defer(await startNginxAt(port, toServers({ port, upstream, folder })))
    tab = await opened.open({ url })
  })
  after(() => ends.disposeAsync())

  it('makes the account by the printed link, and keeps the session in a cookie of this host alone', async () => {
    const link = opened.annex.server.setupUrl ?? ''
    assert.ok(link.startsWith(`${url}/setup#`), link)
    await tab.goto(link.slice(url.length))
    assert.equal(await tab.page.evaluate('isSecureContext'), true)
    await tab.page.getByLabel('Email').fill('olga@example.com')
    await tab.page.getByRole('button', { name: 'Use a password instead' }).click()
    await tab.page.getByLabel('New password').fill(password)
    await tab.page.getByRole('button', { name: 'Create account with this password' }).click()
    await tab.page.waitForURL(`${url}/orgs/home`)
    const [cookie, ...others] = (await tab.context.cookies()).filter(({ name }) => name.includes('session'))
    assert.deepEqual(others, [])
    assert.deepEqual(
      [cookie?.name, cookie?.secure, cookie?.httpOnly, cookie?.sameSite, cookie?.path],
      ['__Host-annex_session', true, true, 'Strict', '/'],
    )
    assert.equal(await tab.page.getByText('This connection is not encrypted').count(), 0)
  })

  it('has new deliveries at once: the proxy keeps no part of the feed back', async () => {
    const { annex } = opened
    await installSample(annex, 'webhook', 'site', {
      ...{ webhook_url: `${annex.url}/x/echo`, site_view: true, page_feedback: false },
    })
    await tab.goto('/orgs/home/deliveries')
    await tab.page.getByText('No delivery yet').waitFor()
    await annex.api('POST', '/v1/events?organization=home', {
      ...{ type: 'site_view', siteId: annex.server.samples.site, url: 'https://docs.example.com/' },
      visitor: { anonymousId: 'a', userAgent: 'b', ip: '203.0.113.7', cookies: {} },
    })
    await tab.page.locator('main .chip', { hasText: 'Delivered' }).waitFor()
    assert.deepEqual(tab.said, [])
  })

  it('changes what the person changes: the origin is that of PUBLIC_URL', async () => {
    await tab.goto('/orgs/home/members')
    await tab.page.getByLabel('Email').fill('bob@example.com')
    await tab.page.getByRole('button', { name: 'Make an invitation' }).click()
    await tab.page.getByRole('heading', { name: 'Invitation for bob@example.com' }).waitFor()
    const shown = await tab.page.getByRole('dialog').locator('pre').textContent()
    assert.ok(shown?.startsWith(`${url}/join#annex_invite_`), shown ?? '')
    assert.deepEqual(tab.said, [])
  })
})
