import assert from 'node:assert/strict'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, request, startAnnex } from '../support/annex.ts'
import { createPng } from '../support/create-png.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { environment }) => {
    const { pathname, search } = new URL(request.url)
    console.log('asked')
    return Response.json({ path: pathname + search, method: request.method, body: await request.text(), tokens: environment.apiTokens })
  },
})`

describe('a name in another letter case', () => {
  let annex: Annex
  let id: string
  let home: string
  let acme: string
  before(async () => {
    annex = await startAnnex({ plugins: { 'Page-Stats': { script } } })
    id = (await installSample(annex, 'Page-Stats')).id
    await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme', externalIds: ['HoMe'] })
    home = (await annex.api('POST', '/v1/orgs/home/tokens', {})).json.token
    acme = (await annex.api('POST', '/v1/orgs/acme/tokens', {})).json.token
    const icon = { files: { 'icon.png': createPng(2, 2) }, more: 'icon: icon.png' }
    writePlugin(annex.pluginsDir, 'Hidden-One', { ...icon, visibility: 'private', script })
    await annex.api('POST', '/v1/reload')
  })
  after(() => annex.close())

  const ask = (path: string, method = 'GET', more: RequestInit = {}) =>
    fetch(annex.url + path, { method, redirect: 'manual', ...more })

  it('names the same integration in each list, record and filter', async () => {
    for (const name of ['page-stats', 'PAGE-STATS', 'pAGE-sTATS']) {
      const one = await annex.api('GET', `/v1/integrations/${name}`)
      assert.deepEqual([one.status, one.json.name], [200, 'Page-Stats'], name)
      const level = await annex.api('GET', `/v1/integrations/${name}/installations/${id}`)
      assert.deepEqual([level.json.id, level.json.integration], [id, 'Page-Stats'])
      for (const path of [
        `/v1/installations?integration=${name}`,
        `/v1/integrations/${name}/installations`,
        `/v1/integrations/${name}/versions`,
      ]) {
        const { status, json } = await annex.api('GET', path, undefined, home)
        assert.deepEqual([status, json.count], [200, 1], path)
      }
    }
    await ask('/x/Page-Stats')
    for (const list of ['logs', 'receipts', 'usage']) {
      const { json } = await annex.api('GET', `/v1/${list}?integration=page-STATS`)
      assert.ok(json.count > 0, list)
    }
  })

  it('names no other integration with similar letters', async () => {
    // U+212A is a `k` in lower case, U+017F an `s` in capitals.
    for (const name of [
      'Pa\u0261e-Stats',
      'Page-\u017ftats',
      'Page-Stats\u200b',
      'Page_Stats',
      'Page%2DStats%20',
    ]) {
      const path = `/v1/integrations/${name.includes('%') ? name : encodeURIComponent(name)}`
      assert.equal((await annex.api('GET', path)).status, 404, name)
    }
    assert.equal((await annex.api('GET', '/v1/integrations/page%2dstats')).json.name, 'Page-Stats')
  })

  it('of a private integration gets a stranger the same answer as an unknown name', async () => {
    for (const path of [
      '/v1/integrations/NAME',
      '/v1/integrations/NAME/installations',
      '/v1/integrations/NAME/sites',
      '/v1/integrations/NAME/versions',
      `/v1/integrations/NAME/installations/${id}`,
      '/v1/integrations/NAME/assets/icon.png',
    ]) {
      const read = async (name: string, token?: string) => {
        const answer = await request(annex.url, 'GET', path.replace('NAME', name), undefined, token)
        return [answer.status, answer.json.error?.message.replaceAll(name, 'NAME')]
      }
      const token = path.includes('assets') ? undefined : acme
      assert.deepEqual(await read('hidden-one', token), await read('no-such-one', token), path)
    }
  })

  it('is redirected from the public endpoint to the one address, with method, body and query', async () => {
    for (const [asked, wanted] of [
      ['/x/page-stats', '/x/Page-Stats'],
      ['/x/PAGE-STATS/', '/x/Page-Stats/'],
      ['/x/page-STATS/a%2Fb//c?d=%20&e#f', '/x/Page-Stats/a%2Fb//c?d=%20&e'],
      [`/x/page-stats/${id}/page-stats`, `/x/Page-Stats/${id}/page-stats`],
      [`/x/page-stats/${id}?state=x&code=y`, `/x/Page-Stats/${id}?state=x&code=y`],
    ] as const) {
      const answer = await ask(asked, 'POST', { body: 'hello' })
      const { status, headers } = answer
      assert.deepEqual([status, headers.get('location')], [308, wanted], asked)
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.equal(await answer.text(), '')
      const followed = await fetch(annex.url + asked, { method: 'POST', body: 'hello' })
      const told: Json = await followed.json()
      assert.deepEqual([told.path, told.method, told.body], [wanted, 'POST', 'hello'])
    }
    const logged = async () =>
      (await annex.api('GET', '/v1/logs?integration=Page-Stats&limit=1000')).json.count
    const before = await logged()
    await ask('/x/PAGE-stats')
    assert.equal(await logged(), before, 'the script does not run')
    for (const path of ['/x/page-statz', `/x/page-stats/${id.slice(0, -1)}f`, '/x/page-stats/inst_x'])
      assert.ok([308, 404].includes((await ask(path)).status), path)
    assert.equal((await ask('/x/page-statz')).status, 404)
  })

  it('is redirected for a whole URL as the request target, and never to another host', async () => {
    const { request: send } = await import('node:http')
    const { hostname, port } = new URL(annex.url)
    const location = await new Promise((resolve) => {
      const sent = send({ hostname, port, path: 'http://evil.example/x/page-stats/a' }, (answer) => {
        answer.resume()
        resolve(answer.headers.location)
      })
      sent.end()
    })
    assert.equal(location, '/x/Page-Stats/a')
  })

  it('is redirected during a pause, and for a site of the installation', async () => {
    await annex.api('POST', `/v1/integrations/page-stats/installations/${id}/pause`)
    assert.equal((await ask(`/x/page-stats/${id}`)).status, 308)
    assert.equal((await ask(`/x/Page-Stats/${id}`)).status, 503)
    await annex.api('POST', `/v1/integrations/PAGE-STATS/installations/${id}/resume`)
    const { site } = annex.server.samples
    await annex.api('POST', `/v1/integrations/PAGE-STATS/installations/${id}/sites`, { site: 'SAMPLE' })
    const answer = await ask(`/x/page-stats/${id}/sites/${site}/a`)
    assert.equal(answer.headers.get('location'), `/x/Page-Stats/${id}/sites/${site}/a`)
    for (const rest of ['script', 'visitor-auth?location=%2F']) {
      const path = `/installations/${id}/sites/${site}/${rest}`
      const sent = await ask(`/v1/integrations/page%2dstats${path}`)
      assert.deepEqual(
        [sent.status, sent.headers.get('location')],
        [308, `/v1/integrations/Page-Stats${path}`],
        rest,
      )
    }
  })

  it('is redirected for an image that the reader may see', async () => {
    const { icon } = (await annex.api('GET', '/v1/integrations/hidden-one')).json
    const path = new URL(icon).pathname
    const sent = await ask(path.replace('Hidden-One', 'HIDDEN-ONE'))
    assert.deepEqual([sent.status, sent.headers.get('location')], [308, path])
    assert.equal((await fetch(icon.replace('Hidden-One', 'HIDDEN-ONE'))).status, 200)
    assert.equal((await ask('/v1/integrations/HIDDEN-ONE/assets/icon.png')).status, 404)
  })

  it('names an organization, a site and a space, unless an external id has exactly these letters', async () => {
    const org = async (name: string) => (await annex.api('GET', `/v1/orgs/${name}`)).json.subdomain
    assert.deepEqual([await org('HOME'), await org('HoMe'), await org('ACME')], ['home', 'acme', 'acme'])
    const { site, space } = annex.server.samples
    assert.equal((await annex.api('GET', '/v1/orgs/HOME/sites/SAMPLE')).json.id, site)
    assert.equal((await annex.api('GET', '/v1/spaces/HandBook', undefined, home)).json.id, space)
    await annex.api('POST', '/v1/orgs/home/sites', { slug: 'other', title: 'O', externalIds: ['SAMPLE'] })
    assert.equal((await annex.api('GET', '/v1/orgs/HOME/sites/SAMPLE')).json.slug, 'other')
    assert.equal((await annex.api('GET', '/v1/orgs/HOME/sites/Sample')).json.id, site)
    assert.equal((await annex.api('GET', '/v1/orgs/home/sites/SAMPLE_')).status, 404)
    const foreign = await annex.api('GET', '/v1/orgs/Home/sites', undefined, acme)
    assert.equal(foreign.status, 404)
  })

  it('is accepted as the organization of a manifest', async () => {
    writePlugin(annex.pluginsDir, 'of-home', { organization: 'HOME' })
    await annex.api('POST', '/v1/reload')
    const { json } = await annex.api('GET', '/v1/integrations/OF-HOME')
    assert.equal(json.organization, (await annex.api('GET', '/v1/orgs/home')).json.id)
  })

  it('is found in the new spelling of a folder after a prune', async () => {
    mkdirSync(join(annex.pluginsDir, 'fresh'), { recursive: true })
    const write = (name: string) =>
      writeFileSync(
        join(annex.pluginsDir, 'fresh', 'service-manifest.yaml'),
        `name: ${name}\ntitle: t\ndescription: d\norganization: home\nvisibility: public\nscopes: []\n`,
      )
    write('Fresh')
    await annex.api('POST', '/v1/reload')
    renameSync(join(annex.pluginsDir, 'fresh'), join(annex.pluginsDir, '..', 'fresh-away'))
    await annex.api('POST', '/v1/reload')
    await annex.api('POST', '/v1/prune', {})
    renameSync(join(annex.pluginsDir, '..', 'fresh-away'), join(annex.pluginsDir, 'fresh'))
    write('FRESH')
    await annex.api('POST', '/v1/reload')
    assert.equal((await annex.api('GET', '/v1/integrations/fresh')).json.name, 'FRESH')
  })
})
