// cpu: 45 s (forty deployments)

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Answered, type Json, startAnnex, until } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const secrets = { account: 'sk-account-0123', site: 'sk-site-012345', space: 'sk-space-01234' }
type Level = keyof typeof secrets
const levels = Object.keys(secrets) as Level[]

/** Copies its account's key as `do` says, and fails each setup after the first with a text that quotes the key. */
const script = `
import { createIntegration, ExposableError } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { environment, api }) => {
    const { integration: { name }, installation: { id, configuration } } = environment
    const { searchParams } = new URL(request.url)
    const { key } = configuration
    console.log('the key is ' + key)
    const site = searchParams.get('site')
    const edits = {
      back: () => api.integrations.updateIntegrationInstallation(name, id, { configuration: { ...configuration } }),
      rename: () => api.integrations.updateIntegrationInstallation(name, id, { configuration: { apiKey: key } }),
      wrap: () => api.integrations.updateIntegrationInstallation(name, id, { configuration: { ...configuration, region: 'Basic ' + btoa('user:' + key) } }),
      site: () => api.integrations.updateIntegrationSiteInstallation(name, id, site, { configuration: { key, region: 'https://a.example/?k=' + key } }),
      // An edit of the script drops what it did not get.
      other: () => key && api.integrations.updateIntegrationInstallation(name, id, { configuration: { ...configuration, region: 'eu-west' } }),
    }
    await edits[searchParams.get('do')]?.()
    return Response.json({ length: key?.length ?? 0 })
  },
  events: {
    installation_setup: ({ previous }) => {
      const { key } = previous?.configuration ?? {}
      if (key) throw new ExposableError('wrong key: ' + key)
    },
  },
})`

const text = (more = '') => `{ type: string, title: Title, description: Text${more} }`
const plain = {
  region: text(),
  limit: '{ type: number, title: Title, description: Number }',
}
const declare = (properties: Record<string, string>, required = '') =>
  [
    'configurations:',
    ...levels.flatMap((level) => [
      `  ${level}:`,
      '    properties:',
      ...Object.entries({ ...plain, ...properties }).map(([name, property]) => `      ${name}: ${property}`),
      ...(required === '' ? [] : [`    required: [${required}]`]),
    ]),
  ].join('\n')

const first = declare({ key: text(', secret: true') })
const dropped = declare({ key: text() })
const changes: Record<string, string> = {
  'declares plain text': dropped,
  'declares required text': declare({ key: text() }, 'key'),
  'declares a number': declare({ key: '{ type: number, title: Title, description: Number }' }),
  'declares a switch': declare({ key: '{ type: boolean, title: Title, description: Switch }' }),
  'declares choices, one of them nearly the secret': declare({
    key: text(`, enum: [${Object.values(secrets).map((secret) => `${secret}x`)}]`),
  }),
  'declares choices of the script': declare({ key: text(', completion_url: /choices') }),
  'declares a button': declare({
    key: '{ type: button, title: Title, description: Go, button_text: Go, callback_url: /oauth }',
  }),
  'declares no such setting': declare({}),
  'declares the secret again': first,
}

describe('a setting that was once a secret', () => {
  let annex: Annex
  let paths: Record<Level, string>
  let endpoint: string
  let reader: string
  let admin: string
  let version = 0
  before(async () => {
    annex = await startAnnex({ sandboxes: 'processes', plugins: { keeper: { script, more: first } } })
    const { organization, site, space } = annex.server.samples
    const base = '/v1/integrations/keeper/installations'
    const { json } = await annex.api('POST', base, { organization, ...(await agreementTo(annex, 'keeper')) })
    endpoint = json.urls.publicEndpoint
    const account = `${base}/${json.id}`
    paths = { account, site: `${account}/sites/${site}`, space: `${account}/spaces/${space}` }
    await annex.api('POST', `${account}/sites`, { site })
    await annex.api('POST', `${account}/spaces`, { space })
    const tokenOf = async (role: string) =>
      (await annex.api('POST', `/v1/orgs/${organization}/tokens`, { role, label: role })).json.token
    reader = await tokenOf('reader')
    admin = await tokenOf('admin')
    await enter()
  })
  after(() => annex?.close())

  async function deploy(more: string): Promise<void> {
    version += 1
    writePlugin(annex.pluginsDir, 'keeper', { script: `${script} // ${version}`, more })
    const { json } = await annex.api('POST', '/v1/reload')
    assert.deepEqual(
      json.items.map(({ state, problems }: Json) => [state, problems]),
      [['loaded', []]],
    )
  }

  async function enter(): Promise<void> {
    for (const level of levels) {
      const { status, text } = await annex.api('PUT', `${paths[level]}/configuration/key`, {
        value: secrets[level],
      })
      assert.equal(status, 200, text)
    }
  }

  const run = async (query = ''): Promise<Json> => (await fetch(`${endpoint}?${query}`)).json()
  const shown = async (level: Level): Promise<Json> =>
    (await annex.api('GET', paths[level])).json.configuration

  /** All that readers and admins can read of the installation. */
  async function readAll(): Promise<Answered[]> {
    const read = (path: string, token = reader) => annex.api('GET', path, undefined, token)
    const jobs = (
      await Promise.all(['due', 'failed'].map((state) => read(`/v1/jobs?state=${state}`)))
    ).flatMap(({ json }) => json.items)
    const account = paths.account
    return Promise.all([
      ...Object.values(paths).map((path) => read(path)),
      ...jobs.map(({ id }: Json) => read(`/v1/jobs/${id}`)),
      ...['/v1/jobs?state=due', '/v1/jobs?state=failed', '/v1/installations', '/v1/problems'].map((path) =>
        read(path),
      ),
      ...[`${account}/sites`, `${account}/spaces`, '/v1/logs?integration=keeper'].map((path) => read(path)),
      ...['/v1/audit', '/v1/audit/export'].map((path) => read(path, admin)),
    ])
  }

  /** The secrets, and long parts of them: a hint or a cut text would tell of them, too. */
  async function assertHidden(what: string): Promise<void> {
    for (const { text } of await readAll()) {
      for (const secret of Object.values(secrets)) {
        for (const form of [secret, secret.slice(0, 10), btoa(`user:${secret}`).slice(8, 20)]) {
          const allowed = text.replaceAll(`${secret}x`, '')
          assert.ok(!allowed.includes(form), `${what}: ${text.slice(0, 2_000)}`)
        }
      }
    }
  }

  for (const [what, more] of Object.entries(changes)) {
    it(`stays hidden at each level after an update that ${what}`, async () => {
      await deploy(first)
      await enter()
      await deploy(more)
      await run()
      await assertHidden(what)
      for (const level of levels) {
        const { status, json, text } = await annex.api('PUT', `${paths[level]}/configuration/limit`, {
          value: version,
        })
        assert.equal(status, 200, text)
        assert.ok(['[secret]', undefined].includes(json.configuration.key), text)
      }
      await run('do=other')
      await assertHidden(`${what}, after edits`)
      await deploy(dropped)
      await assertHidden(`${what}, and plain text after it`)
      for (const level of levels) assert.equal((await shown(level)).key, '[secret]')
      assert.deepEqual(await run(), { length: secrets.account.length }, 'the script keeps it')
    })
  }

  it('stays hidden after an edit with its mask, and is shown after a new value', async () => {
    for (const level of levels) {
      const read = await annex.api('GET', paths[level])
      const masked = await annex.api('PATCH', paths[level], {
        configuration: { key: '[secret]', region: 'eu' },
      })
      assert.deepEqual(masked.json.configuration, { key: '[secret]', region: 'eu' })
      await annex.api('PUT', `${paths[level]}/configuration/key`, { value: '[secret]' })
      assert.equal((await shown(level)).key, '[secret]')
      const entered = await annex.api('PUT', `${paths[level]}/configuration/key`, { value: 'in the open' })
      assert.equal(entered.json.configuration.key, 'in the open')
      assert.notEqual(entered.headers.get('etag'), read.headers.get('etag'))
      await assertHidden('entered again')
      // A form from before the edit.
      const late = await annex.api('PATCH', paths[level], { configuration: { key: '[secret]' } })
      assert.equal(late.status, 422)
      assert.match(late.json.error.message, /key: is not set yet: send the secret itself/)
      assert.equal((await shown(level)).key, 'in the open')
    }
  })

  it('stays hidden when the script stores it again: renamed, wrapped, or in a site', async () => {
    for (const copy of ['back', 'rename', 'wrap', 'site']) {
      await deploy(first)
      await enter()
      // A hint of a wrong value would not be one.
      await annex.api('DELETE', `${paths.account}/configuration/apiKey`)
      await deploy(declare({ key: text(), apiKey: text() }))
      await run(`do=${copy}&site=${annex.server.samples.site}`)
      await assertHidden(copy)
    }
    assert.deepEqual(await shown('site'), { key: '[secret]', region: '[secret]' })
  })

  it('is not quoted when an edit that keeps it is refused', async () => {
    await deploy(first)
    await enter()
    await deploy(declare({ key: text(', enum: [one, two]') }))
    for (const level of levels) {
      const { status, text } = await annex.api('PATCH', paths[level], { configuration: { key: '[secret]' } })
      assert.equal(status, 422)
      assert.match(text, /must be one of its choices, found another value; allowed: one, two/)
      assert.ok(!text.includes(secrets[level]), text)
    }
  })

  it('is redacted in logs and job errors of a version that declares no secret', async () => {
    await deploy(first)
    await enter()
    await deploy(dropped)
    await run()
    const lines = await until(
      async () => (await annex.api('GET', '/v1/logs?integration=keeper')).json.items,
      (items: Json[]) => items.some(({ text }) => text.startsWith('the key is')),
    )
    assert.ok(lines.some(({ text }: Json) => text === 'the key is [secret configuration.key]'))
    const jobs = await until(
      async () => (await annex.api('GET', '/v1/jobs?state=due')).json.items,
      (items: Json[]) => items.some(({ error }) => error !== undefined),
    )
    const { message } = jobs.find(({ error }: Json) => error !== undefined).error
    assert.match(message, /^wrong key: \[secret /)
  })

  it('is shown once a person enters it as a plain setting', async () => {
    await deploy(first)
    await enter()
    await deploy(dropped)
    const { headers } = await annex.api('GET', paths.account)
    const again = await annex.api('PUT', `${paths.account}/configuration/key`, { value: secrets.account })
    assert.equal(again.json.configuration.key, secrets.account)
    assert.notEqual(again.headers.get('etag'), headers.get('etag'))
  })
})
