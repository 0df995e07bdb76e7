// cpu: 45 s (thirty deployments)

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'

async function ask(endpoint: string, query = ''): Promise<Json> {
  const response = await fetch(`${endpoint}?${query}`)
  const text = await response.text()
  assert.equal(response.status, 200, text)
  return JSON.parse(text)
}

/** Answers the settings of its level, from its environment and from the API. Stores what a request names. */
const script = `
import { createIntegration } from '@annex/runtime'
let previous
export default createIntegration({
  fetch: async (request, { environment, api }) => {
    const { integration: { name }, installation, siteInstallation } = environment
    const own = new URL(request.url).searchParams.get('own')
    const at = siteInstallation ?? installation
    const read = siteInstallation
      ? () => api.integrations.getIntegrationSiteInstallation(name, installation.id, siteInstallation.site)
      : () => api.integrations.getIntegrationInstallationById(name, installation.id)
    const edit = (configuration) => siteInstallation
      ? api.integrations.updateIntegrationSiteInstallation(name, installation.id, siteInstallation.site, { configuration })
      : api.integrations.updateIntegrationInstallation(name, installation.id, { configuration })
    if (own !== null) await edit({ ...(await read()).data.configuration, ...JSON.parse(own) })
    return Response.json({ environment: at.configuration, status: at.status, api: (await read()).data.configuration, previous })
  },
  events: {
    installation_setup: (event) => { previous = event.previous?.configuration },
    site_installation_setup: (event) => { previous = event.previous?.configuration },
  },
})`

const property = (type: string) => `{ type: ${type}, title: Title, description: Text }`
const button = '{ type: button, title: Title, description: Go, button_text: Go, callback_url: /oauth }'
const levels = ['account', 'site'] as const
type Level = (typeof levels)[number]

/** A manifest with the setting `other` at both levels, and these. */
const declareAll = (settings: Record<string, string>, required = false) =>
  [
    'configurations:',
    ...levels.flatMap((level) => [
      `  ${level}:`,
      '    properties:',
      `      other: ${property('string')}`,
      ...Object.entries(settings).map(([name, declared]) => `      ${name}: ${declared}`),
      ...(required ? ['    required: [value]'] : []),
    ]),
  ].join('\n')

const declare = (value?: string, required = false) =>
  declareAll(value === undefined ? {} : { value }, required)

const component =
  'blocks: [{ id: settings, title: Settings }]\nconfigurations:\n  account: { componentId: settings }\n  site: { componentId: settings }'

describe('a setting that a version drops', () => {
  let annex: Annex
  let paths: Record<Level, string>
  let endpoints: Record<Level, string>
  let version = 0
  before(async () => {
    annex = await startAnnex({ plugins: { keeper: { script, more: declare(property('string')) } } })
    const { endpoint, path } = await installSample(annex, 'keeper', 'site')
    paths = { account: path.replace(/\/sites\/.*/, ''), site: path }
    endpoints = { account: endpoint.replace(/\/sites\/.*/, ''), site: endpoint }
  })
  after(() => annex?.close())
  // A test that deploys a manifest again deploys the version of before.
  beforeEach(() => {
    version += 1
  })

  async function deploy(more: string): Promise<void> {
    writePlugin(annex.pluginsDir, 'keeper', { script: `${script} // ${version}`, more })
    const { json, text } = await annex.api('POST', '/v1/reload')
    assert.equal(json.items[0].state, 'loaded', text)
  }

  async function set(level: Level, value: unknown, name = 'value'): Promise<void> {
    const { status, text } = await annex.api('PUT', `${paths[level]}/configuration/${name}`, { value })
    assert.equal(status, 200, text)
  }

  async function clear(names: readonly string[] = ['value']): Promise<void> {
    for (const level of levels)
      for (const name of names) await annex.api('DELETE', `${paths[level]}/configuration/${name}`)
  }

  const show = async (level: Level): Promise<Json> => (await annex.api('GET', paths[level])).json

  /** What the script of the deployed version gets. */
  const given = (level: Level, query = '') => ask(endpoints[level], query)

  async function assertNotGiven(
    level: Level,
    what: string,
    names: readonly string[] = ['value'],
  ): Promise<void> {
    const { environment, api } = await given(level)
    for (const name of names)
      assert.deepEqual([environment[name], api[name]], [undefined, undefined], `${name}: ${what}`)
  }

  const kinds = {
    text: property('string'),
    secret: '{ type: string, title: Title, description: Text, secret: true }',
    choice: '{ type: string, title: Title, description: Text, enum: [on, off] }',
    number: property('number'),
    switch: property('boolean'),
  }
  const names = Object.keys(kinds)
  const rounds: Record<keyof typeof kinds, unknown>[] = [
    { text: 'on', secret: 'sk-0123456789', choice: 'on', number: 0, switch: false },
    { text: '', secret: 'sk-9876543210', choice: 'off', number: 7, switch: true },
  ]

  for (const level of levels) {
    for (const values of rounds) {
      it(`is hidden from its script, and returns with its version: ${JSON.stringify(values)} of the ${level}`, async () => {
        await deploy(declareAll(kinds))
        await clear(names)
        for (const [name, value] of Object.entries(values)) await set(level, value, name)
        const assertGiven = async () => {
          const { environment } = await given(level)
          for (const [name, value] of Object.entries(values)) assert.equal(environment[name], value, name)
        }
        await assertGiven()
        await deploy(declare())
        for (const one of levels) await assertNotGiven(one, `at the ${one}`, names)
        // Edits of others keep it.
        await annex.api('PATCH', paths[level], { configuration: { other: 'typed' } })
        await given(level, `own=${JSON.stringify({ counted: 1 })}`)
        await assertNotGiven(level, 'after edits', names)
        const { previous } = await until(
          () => given(level),
          (found) => found.previous !== undefined,
        )
        for (const name of names) assert.ok(!(name in previous), JSON.stringify(previous))
        await deploy(declareAll(kinds))
        await assertGiven()
        await clear(names)
      })
    }
  }

  it('does not show in the script, which may store a value under that name', async () => {
    await deploy(declare(property('string')))
    await set('account', 'on')
    await deploy(declare())
    await given('account', `own=${JSON.stringify({ value: 'mine' })}`)
    const { environment, api } = await given('account')
    assert.deepEqual([environment.value, api.value], ['mine', 'mine'])
  })

  it('stays with a version that asks for settings by a component', async () => {
    await deploy(declare(property('string')))
    for (const level of levels) await set(level, level)
    await deploy(component)
    for (const level of levels) assert.equal((await given(level)).environment.value, level)
  })

  const returns = {
    textAsNumber: {
      ...{ before: property('string'), value: 'on', later: property('number') },
      problem: /must be a number, found another/,
    },
    textAsSwitch: {
      ...{ before: property('string'), value: 'true', later: property('boolean') },
      problem: /must be true or false, found an/,
    },
    numberAsText: {
      ...{ before: property('number'), value: 7, later: property('string') },
      problem: /must be text, found another value/,
    },
    switchAsNumber: {
      ...{ before: property('boolean'), value: true, later: property('number') },
      problem: /must be a number, found an/,
    },
    textAsChoice: {
      ...{ before: property('string'), value: 'on' },
      later: '{ type: string, title: Title, description: Text, enum: [one, two] }',
      problem: /must be one of its choices, found another value/,
    },
  }
  const returning = Object.entries(returns)
  const older = Object.fromEntries(returning.map(([name, { before }]) => [name, before]))
  const newer = Object.fromEntries(returning.map(([name, { later }]) => [name, later]))
  for (const level of levels) {
    it(`makes the ${level} pending when it returns with another type, until each value is deleted`, async () => {
      await deploy(declareAll(older))
      for (const [name, { value }] of returning) await set(level, value, name)
      await deploy(declare())
      assert.equal((await show(level)).status, 'active')
      await deploy(declareAll(newer))
      await assertNotGiven(level, 'of another type', Object.keys(returns))
      for (const [name, { problem }] of returning) {
        const { status, problems } = await show(level)
        assert.equal(status, 'pending')
        const found = problems.filter(({ path }: Json) => path === `/configuration/${name}`)
        assert.match(found.map(({ message }: Json) => message).join(), problem)
        assert.equal((await given(level)).status, 'pending')
        await annex.api('DELETE', `${paths[level]}/configuration/${name}`)
      }
      assert.equal((await show(level)).status, 'active')
    })
  }

  for (const value of ['on', '']) {
    it(`is no connection when it returns as a button: "${value}"`, async () => {
      await deploy(declare(property('string')))
      await clear()
      for (const level of levels) await set(level, value)
      await deploy(declare())
      await deploy(declare(button))
      for (const level of levels) {
        const { status, connections, configuration } = await show(level)
        assert.deepEqual([status, connections.value.state], ['active', 'none'])
        assert.equal(configuration.value, undefined)
        await assertNotGiven(level, level)
        // A person edits beside it.
        const edited = await annex.api('PATCH', paths[level], { configuration: { other: 'again' } })
        assert.equal(edited.status, 200, edited.text)
        assert.equal(edited.json.connections.value.state, 'none')
      }
      await deploy(declare(button, true))
      // The site first: it takes the account's value.
      for (const level of levels.toReversed()) {
        const required = await show(level)
        assert.equal(required.status, 'pending')
        assert.deepEqual(
          required.problems.map(({ path, message }: Json) => [path, message]),
          [['/configuration/value', 'is required: connect first']],
        )
        await given(level, `own=${JSON.stringify({ value: { access_token: 'made' } })}`)
        assert.equal((await show(level)).connections.value.state, 'connected')
      }
    })
  }

  it('is no text when a connection returns as a setting', async () => {
    for (const value of ['token-0123456789', { access_token: 'token-0123456789' }]) {
      await deploy(declare(button))
      for (const level of levels) await given(level, `own=${JSON.stringify({ value })}`)
      await deploy(declare())
      for (const level of levels) await assertNotGiven(level, 'dropped')
      await deploy(declare(property('string')))
      // The site first: it takes the account's value.
      for (const level of levels.toReversed()) {
        await assertNotGiven(level, 'text')
        const { status, problems, configuration } = await show(level)
        assert.deepEqual([status, configuration.value], ['pending', undefined])
        assert.match(problems[0].message, /holds a connection that an older version has made|must be text/)
        await set(level, 'typed')
        assert.equal((await given(level)).environment.value, 'typed')
      }
    }
  })
})

describe('a name with one type in the account and another in the site', () => {
  const pairs: [account: string, site: string, stored: unknown][] = [
    ['{ type: string, title: Title, default: high }', property('number'), 'low'],
    ['{ type: number, title: Title, default: 3 }', property('string'), 0],
    ['{ type: boolean, title: Title, default: true }', property('string'), false],
    ['{ type: string, title: Title, default: high }', button, 'low'],
    [
      '{ type: string, title: Title, default: high }',
      '{ type: string, title: Title, enum: [low, none] }',
      'mid',
    ],
    ['{ type: string, title: Title, default: "" }', property('number'), ''],
  ]
  const shared: (typeof pairs)[number] = [
    '{ type: string, title: Title, default: high }',
    '{ type: string, title: Title, enum: [high, low] }',
    'low',
  ]
  const nameOf = (pair: (typeof pairs)[number]) => `keeper-${[...pairs, shared].indexOf(pair)}`
  let annex: Annex
  before(async () => {
    const plugins = [...pairs, shared].map((pair) => {
      const [account, site] = pair
      const more = `configurations:\n  account:\n    properties:\n      value: ${account}\n  site:\n    properties:\n      value: ${site}`
      return [nameOf(pair), { script, more }]
    })
    annex = await startAnnex({ plugins: Object.fromEntries(plugins) })
  })
  after(() => annex?.close())

  for (const pair of pairs) {
    const [account, site, stored] = pair
    it(`gives the site no value of the account: ${account} and ${site}`, async () => {
      const { endpoint, path } = await installSample(annex, nameOf(pair), 'site')
      const given = async () => (await ask(endpoint)).environment
      assert.deepEqual(await given(), {})
      const at = path.replace(/\/sites\/.*/, '')
      assert.equal((await annex.api('PUT', `${at}/configuration/value`, { value: stored })).status, 200)
      assert.deepEqual(await given(), {})
      assert.equal((await annex.api('GET', path)).json.problems, undefined)
    })
  }

  it('gives the site the account’s value and default if its own schema allows them', async () => {
    const { endpoint, path } = await installSample(annex, nameOf(shared), 'site')
    const given = async () => (await ask(endpoint)).environment
    assert.deepEqual(await given(), { value: 'high' })
    await annex.api('PUT', `${path.replace(/\/sites\/.*/, '')}/configuration/value`, { value: 'low' })
    await until(given, ({ value }) => value === 'low')
  })
})
