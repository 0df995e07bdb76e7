import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

/** Logs the events that it gets. */
const teller = `
import { createIntegration } from '@annex/runtime'
const tell = (event) => console.log(JSON.stringify(event))
export default createIntegration({
  events: { installation_setup: tell, site_installation_setup: tell, space_installation_setup: tell },
  fetch: async (request, { environment }) => Response.json(environment),
})`

const knowsInstallations = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  events: { installation_setup: (event, { environment }) => {
    const { siteInstallation, spaceInstallation } = environment
    console.log(event.type, siteInstallation?.site ?? '-', spaceInstallation?.space ?? '-')
  } },
})`

const settings = `
configurations:
  account:
    properties:
      region: { type: string, title: Region, description: Where, enum: [eu, us] }
      limit: { type: number, title: Limit, description: How many, default: 5 }
    required: [region]
  site:
    properties:
      region: { type: string, title: Region, description: Where, enum: [eu, us] }
      loud: { type: boolean, title: Loud, description: How }
    required: [region]`

describe('an installation', () => {
  let annex: Annex
  let path: string
  let id: string
  before(async () => {
    annex = await startAnnex({
      plugins: {
        settled: { script: teller, more: settings },
        plain: { script: teller },
        alone: {
          script: knowsInstallations,
          more: settings.replaceAll('required: [region]', 'required: []'),
        },
        optional: { script: teller, more: settings.replaceAll('required: [region]', 'required: []') },
      },
    })
    const { organization } = annex.server.samples
    const installed = await annex.api('POST', '/v1/integrations/settled/installations', {
      organization,
      ...(await agreementTo(annex, 'settled')),
    })
    assert.equal(installed.status, 201)
    assert.equal(installed.json.status, 'pending')
    assert.match(installed.json.signingSecret, /^whsec_/)
    id = installed.json.id
    path = `/v1/integrations/settled/installations/${id}`
  })
  after(() => annex.close())

  /** Waits until the script got that many setup events. */
  const setups = async (count: number): Promise<Json[]> => {
    const { json } = await until(
      () => annex.api('GET', `/v1/logs?installation=${id}`),
      ({ json }) => json.count >= count,
    )
    return json.items.map(({ text }: Json) => JSON.parse(text))
  }

  it('has a JSON Schema of its settings for each level', async () => {
    const { configurations } = (await annex.api('GET', '/v1/integrations/settled')).json
    assert.deepEqual(configurations.account, {
      type: 'object',
      properties: {
        region: {
          type: 'string',
          title: 'Region',
          description: 'Where',
          enum: ['eu', 'us'],
          minLength: 1,
        },
        limit: {
          type: 'number',
          title: 'Limit',
          description: 'How many',
          default: 5,
          minimum: -9007199254740991,
          maximum: 9007199254740991,
        },
      },
      required: ['region'],
      additionalProperties: false,
    })
    assert.deepEqual(Object.keys(configurations), ['account', 'site'])
  })

  it('is pending at first, and its script gets installation_setup', async () => {
    const [event] = await setups(1)
    assert.equal(event.type, 'installation_setup')
    assert.equal(event.installationId, id)
    assert.equal(event.status, 'pending')
    assert.match(event.eventId, /^evt_/)
    assert.equal(
      (await annex.api('GET', path)).json.status,
      'pending',
      'it declares settings: they are still to be made',
    )
    assert.equal((await annex.api('GET', path)).json.signingSecret, undefined, 'shown once')
  })

  it('answers at its endpoint while it is pending', async () => {
    const environment: Json = await (await fetch(`${annex.url}/x/settled/${id}`)).json()
    assert.equal(environment.installation.status, 'pending')
  })

  it('refuses wrong settings with an error for each, and stays unchanged', async () => {
    const refused = await annex.api('PATCH', path, {
      configuration: { region: 'mars', limit: 'many', regoin: 1 },
    })
    assert.equal(refused.status, 422)
    assert.equal(refused.json.error.code, 'configuration_invalid')
    const byPath = Object.fromEntries(
      refused.json.error.details.map((detail: Json) => [
        detail.path.replace('/configuration/', ''),
        detail.message,
      ]),
    )
    assert.deepEqual(Object.keys(byPath).sort(), ['limit', 'region', 'regoin'])
    assert.match(byPath.region, /"mars".*eu.*us/)
    assert.match(byPath.limit, /must be a number, found "many"/)
    assert.match(byPath.regoin, /region/, 'the nearest name')
    const missing = await annex.api('PATCH', path, { configuration: { limit: 3 } })
    assert.deepEqual(missing.json.error.details, [{ path: '/configuration/region', message: 'is required' }])
    const { json } = await annex.api('GET', path)
    assert.deepEqual([json.status, json.configuration], ['pending', {}])
    assert.equal((await setups(1)).length, 1, 'and no setup event')
  })

  it('becomes active with valid settings, and each edit dispatches installation_setup', async () => {
    const edited = await annex.api('PATCH', path, { configuration: { region: 'eu' } })
    assert.deepEqual([edited.status, edited.json.status], [200, 'active'])
    const events = await setups(2)
    assert.equal(events[1].status, 'active')
    assert.deepEqual(events[1].previous, { status: 'pending', configuration: {} })
    await annex.api('PATCH', path, { configuration: { region: 'us', limit: 7 } })
    assert.equal((await setups(3)).length, 3)
    const replaced = await annex.api('PATCH', path, { configuration: { region: 'eu' } })
    assert.deepEqual(replaced.json.configuration, { region: 'eu' }, 'the settings are replaced, not merged')
  })

  it('gives its script the defaults, and settings of the account that the site lacks', async () => {
    const { site } = annex.server.samples
    const inSite = await annex.api('POST', `${path}/sites`, { site })
    assert.deepEqual([inSite.status, inSite.json.status], [201, 'pending'])
    assert.match(inSite.json.signingSecret, /^whsec_/)
    const patched = await annex.api('PATCH', `${path}/sites/${site}`, { configuration: { loud: true } })
    assert.equal(patched.status, 200, `the account's region stands in: ${patched.text}`)
    assert.deepEqual(patched.json.configuration, { loud: true }, 'stored is the level’s own')
    const environment: Json = await (await fetch(inSite.json.urls.publicEndpoint)).json()
    assert.equal(environment.siteInstallation.site, site)
    assert.deepEqual(environment.siteInstallation.configuration, { limit: 5, region: 'eu', loud: true })
    assert.deepEqual(environment.installation.configuration, { limit: 5, region: 'eu' })
    assert.deepEqual(Object.keys(environment.signingSecrets).sort(), [
      'installation',
      'integration',
      'siteInstallation',
    ])
  })

  it('becomes active after its setup event when it declares no settings', async () => {
    const { id: plain } = await installSample(annex, 'plain', 'space')
    const spacePath = `/v1/integrations/plain/installations/${plain}/spaces/${annex.server.samples.space}`
    await until(
      () => annex.api('GET', spacePath),
      ({ json }) => json.status === 'active',
    )
  })

  it('becomes active after its setup event when all its settings are optional', async () => {
    const { id: optional, path: inSite } = await installSample(annex, 'optional', 'site')
    await until(
      () => annex.api('GET', inSite),
      ({ json }) => json.status === 'active',
    )
    const { json } = await annex.api('GET', `/v1/integrations/optional/installations/${optional}`)
    assert.deepEqual([json.status, json.configuration, json.problems], ['active', {}, undefined])
  })

  it('can check its settings in advance: 204, or an error for each wrong one', async () => {
    const check = (configuration: object, level = 'account') =>
      annex.api('POST', '/v1/integrations/settled/settings/check', { level, configuration })
    assert.equal((await check({ region: 'eu' })).status, 204)
    assert.equal((await check({})).status, 204, 'a missing one is no error: the level would be pending')
    const refused = await check({ region: 'mars', loud: 'yes', limti: 1 }, 'site')
    assert.deepEqual([refused.status, refused.json.error.code], [422, 'configuration_invalid'])
    const paths = refused.json.error.details.map(({ path: name }: Json) => name).sort()
    assert.deepEqual(paths, ['/configuration/limti', '/configuration/loud', '/configuration/region'])
  })

  it('dispatches installation_setup for each install and edit, at each level', async () => {
    const { id: alone } = await installSample(annex, 'alone')
    const base = `/v1/integrations/alone/installations/${alone}`
    const { site, space } = annex.server.samples
    await annex.api('POST', `${base}/sites`, { site })
    await annex.api('POST', `${base}/spaces`, { space })
    await annex.api('PUT', `${base}/sites/${site}/configuration/loud`, { value: true })
    const lines = await until(
      async () => (await annex.api('GET', `/v1/logs?installation=${alone}`)).json.items,
      (items) => items.length >= 4,
    )
    assert.deepEqual(
      lines.map(({ text }: Json) => text).sort(),
      [
        'installation_setup - -',
        `installation_setup - ${space}`,
        `installation_setup ${site} -`,
        `installation_setup ${site} -`,
      ].sort(),
    )
  })

  it('cannot exist twice in an organization, or in a missing site', async () => {
    const { organization } = annex.server.samples
    const again = await annex.api('POST', '/v1/integrations/settled/installations', {
      organization,
      ...(await agreementTo(annex, 'settled')),
    })
    assert.deepEqual([again.status, again.json.error.code], [409, 'conflict'])
    const nowhere = await annex.api('POST', `${path}/sites`, { site: 'site_0' })
    assert.equal(nowhere.status, 404)
  })
})

describe('visibility', () => {
  let annex: Annex
  let acme: string
  let token: string
  before(async () => {
    const script = teller
    annex = await startAnnex({
      plugins: {
        ours: { script, visibility: 'private' },
        linked: { script, visibility: 'unlisted' },
        open: { script, visibility: 'public' },
      },
    })
    acme = (await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })).json.id
    token = (await annex.api('POST', `/v1/orgs/${acme}/tokens`, {})).json.token
  })
  after(() => annex.close())

  const installAs = async (name: string, more: object = {}, by: string | undefined = token) =>
    annex.api(
      'POST',
      `/v1/integrations/${name}/installations`,
      { ...(await agreementTo(annex, name)), ...(by === token ? {} : { organization: 'home' }), ...more },
      by,
    )

  it('private: only members of the owning organization may install', async () => {
    const refused = await installAs('ours')
    assert.deepEqual([refused.status, refused.json.error.code], [404, 'not_found'])
    const forThem = await annex.api('POST', '/v1/integrations/ours/installations', {
      organization: acme,
      ...(await agreementTo(annex, 'ours')),
    })
    assert.deepEqual([forThem.status, forThem.json.error.code], [403, 'integration_private'])
    const { organization } = annex.server.samples
    assert.equal(
      (
        await annex.api('POST', '/v1/integrations/ours/installations', {
          organization,
          ...(await agreementTo(annex, 'ours')),
        })
      ).status,
      201,
    )
    assert.equal((await annex.api('GET', '/v1/integrations/ours', undefined, token)).status, 404)
  })

  it('unlisted: an install needs the install link', async () => {
    const refused = await installAs('linked')
    assert.deepEqual([refused.status, refused.json.error.code], [404, 'not_found'])
    assert.equal((await installAs('linked', { installKey: 'guess' })).status, 404)
    const { installKey } = (await annex.api('POST', '/v1/integrations/linked/install-links', {})).json
    const installed = await installAs('linked', { installKey })
    assert.equal(installed.status, 201)
    assert.equal(installed.json.target.organization, acme)
  })

  it('public: every organization may install, and it is listed', async () => {
    const listed = (await annex.api('GET', '/v1/integrations', undefined, token)).json.items
    assert.deepEqual(
      listed.map(({ name }: Json) => name),
      ['open'],
    )
    assert.equal((await installAs('open')).status, 201)
  })

  it('an organization sees only its own installations', async () => {
    const theirs = (await annex.api('GET', '/v1/installations', undefined, token)).json.items
    assert.deepEqual(new Set(theirs.map(({ target }: Json) => target.organization)), new Set([acme]))
    const [ours] = (await annex.api('GET', '/v1/installations?organization=home')).json.items
    const hidden = await annex.api('GET', `/v1/integrations/ours/installations/${ours.id}`, undefined, token)
    assert.equal(hidden.status, 404)
  })
})
