// tier: wall (an attack at each level, with twenty deployments)

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
    const keys = Object.entries(configuration).filter(([setting]) => setting.startsWith('key'))
    for (const [, value] of keys) console.log('the key is ' + value)
    const site = searchParams.get('site')
    const edits = {
      back: () => api.integrations.updateIntegrationInstallation(name, id, { configuration: { ...configuration } }),
      rename: () => api.integrations.updateIntegrationInstallation(name, id, { configuration: { apiKey: key } }),
      wrap: () => api.integrations.updateIntegrationInstallation(name, id, { configuration: { ...configuration, region: 'Basic ' + btoa('user:' + key) } }),
      site: () => api.integrations.updateIntegrationSiteInstallation(name, id, site, { configuration: { key, region: 'https://a.example/?k=' + key } }),
      other: () => api.integrations.updateIntegrationInstallation(name, id, { configuration: { ...configuration, region: 'eu-west' } }),
    }
    await edits[searchParams.get('do')]?.()
    return Response.json(Object.fromEntries(keys.map(([setting, value]) => [setting, value.length])))
  },
  events: {
    installation_setup: ({ previous }) => {
      const values = Object.entries(previous?.configuration ?? {}).filter(([setting]) => setting.startsWith('key'))
      if (values.length > 0) throw new ExposableError('wrong key: ' + values.map(([, value]) => value))
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

/** What a version declares of a setting that was a secret. */
type Changes = Record<string, string | undefined>
/** The script gets the secret. */
const given: Changes = {
  keyOfText: text(),
  keyThatIsRequired: text(),
  keyWithChoicesOfTheScript: text(', completion_url: /choices'),
  keyThatIsSecretAgain: text(', secret: true'),
}
/** The secret fits in no version of these: the script does not get it. */
const withheld: Changes = {
  keyOfANumber: '{ type: number, title: Title, description: Number }',
  keyOfASwitch: '{ type: boolean, title: Title, description: Switch }',
  keyWithAChoiceThatIsNearlyTheSecret: text(
    `, enum: [${Object.values(secrets).map((secret) => `${secret}x`)}]`,
  ),
  keyOfAButton: '{ type: button, title: Title, description: Go, button_text: Go, callback_url: /oauth }',
  keyThatIsNotDeclared: undefined,
}

describe('a setting that was once a secret', () => {
  let annex: Annex
  let paths: Record<Level, string>
  let endpoint: string
  let reader: string
  let admin: string
  let version = 0
  before(async () => {
    annex = await startAnnex({ plugins: { keeper: { script, more: first } } })
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

  async function enter(settings = ['key']): Promise<void> {
    for (const level of levels) {
      for (const setting of settings) {
        const path = `${paths[level]}/configuration/${setting}`
        const { status, text } = await annex.api('PUT', path, { value: secrets[level] })
        assert.equal(status, 200, text)
      }
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

  for (const [what, changes] of Object.entries({ given, withheld })) {
    it(`stays hidden at each level when a version declares it otherwise: ${Object.keys(changes)}`, async () => {
      const settings = Object.keys(changes)
      const declareEach = (property: string) =>
        declare(Object.fromEntries(settings.map((setting) => [setting, property])))
      await deploy(declareEach(text(', secret: true')))
      await enter(settings)
      const changed = Object.entries(changes).filter(([, property]) => property !== undefined)
      const required = 'keyThatIsRequired' in changes ? 'keyThatIsRequired' : ''
      await deploy(declare(Object.fromEntries(changed) as Record<string, string>, required))
      const lengthOf = (names: string[]) =>
        Object.fromEntries(names.map((setting) => [setting, secrets.account.length]))
      assert.deepEqual(await run(), lengthOf(changes === given ? settings : []))
      await assertHidden(what)
      for (const level of levels) {
        const { status, json, text } = await annex.api('PUT', `${paths[level]}/configuration/limit`, {
          value: version,
        })
        assert.equal(status, 200, text)
        for (const setting of settings)
          assert.ok(['[secret]', undefined].includes(json.configuration[setting]), `${setting}: ${text}`)
      }
      // An edit of the script drops what it did not get.
      if (changes === given) await run('do=other')
      await assertHidden(`${what}, after edits`)
      await deploy(declareEach(text()))
      await assertHidden(`${what}, and plain text after it`)
      for (const level of levels) {
        const configuration = await shown(level)
        for (const setting of settings) assert.equal(configuration[setting], '[secret]', setting)
      }
      assert.deepEqual(await run(), lengthOf(settings), 'the script keeps each')
    })
  }

  it('stays hidden after an edit with its mask, and is shown after a new value', async () => {
    await deploy(first)
    await enter()
    await deploy(dropped)
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
