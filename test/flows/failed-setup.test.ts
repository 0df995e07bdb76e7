import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'

/** Fails without the account's channel, and without the topic of its site. */
const bell = `
import { createIntegration, ExposableError } from '@annex/runtime'
export default createIntegration({
  events: {
    installation_setup: (event, { environment }) => {
      console.log('account set up at ' + new URL(environment.installation.configuration.channel).host)
    },
    site_installation_setup: (event, { environment }) => {
      const { channel } = environment.installation.configuration
      if (!channel) throw new ExposableError('There is no channel yet')
      console.log('site set up at ' + new URL(channel).host)
    },
  },
})`

/** Its setup handler presses the button of its own settings. */
const turning = `
import { createComponent, createIntegration } from '@annex/runtime'
const act = (api, { installation: { id } }) => api.integrations.updateIntegrationInstallation('turning', id, {
  configuration: { pressed: crypto.randomUUID() },
})
export default createIntegration({
  components: [createComponent({
    componentId: 'config',
    action: async (element, action, { api, environment }) => (await act(api, environment), { type: 'complete' }),
    render: () => null,
  })],
  events: {
    installation_setup: async (event, { api, environment: { installation } }) => {
      console.log('set up')
      const path = '/integrations/turning/installations/' + installation.id + '/render'
      await api.request({ method: 'POST', path, body: { componentId: 'config', action: { action: 'press' } } })
    },
  },
})`

/** Fails however it is configured. */
const broken = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ events: { installation_setup: () => { throw new Error('broken for ever') } } })`

const settings = (required: string) => `
configurations:
  account:
    properties:
      channel: { type: string }
      label: { type: string, default: none }
    ${required}`

describe('a setup handler that fails', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({
      flags: { DELIVERY_RETRY_SECONDS: '0.05,0.05,0.05' },
      plugins: {
        bell: { script: bell, more: settings('required: [channel]') },
        edited: { script: bell, more: settings('required: [channel]') },
        'in-site': { script: bell, more: settings('required: [channel]') },
        optional: { script: bell, more: settings('') },
        component: { script: bell, more: 'configurations: { account: { componentId: config } }' },
        turning: { script: turning, more: 'configurations: { account: { componentId: config } }' },
        broken: { script: broken },
        'broken-later': { script: broken, more: settings('required: [channel]') },
      },
    })
  })
  after(() => annex.close())

  const install = async (name: string): Promise<string> => {
    const { organization } = annex.server.samples
    const { json } = await annex.api('POST', `/v1/integrations/${name}/installations`, {
      organization,
      ...(await agreementTo(annex, name)),
    })
    return `/v1/integrations/${name}/installations/${json.id}`
  }
  const read = async (path: string): Promise<Json> => (await annex.api('GET', path)).json
  const withReason = (path: string): Promise<Json> =>
    until(
      () => read(path),
      // A level with a component has another reason before its setup event.
      ({ statusReason = '' }) => statusReason !== '' && !statusReason.includes('stored none yet'),
    )
  const logOf = async (path: string): Promise<string[]> => {
    const { json } = await annex.api('GET', `/v1/logs?installation=${path.split('/')[5]}`)
    return json.items.map(({ text }: Json) => text.split('\n')[0])
  }
  const jobs = async (): Promise<Json[]> => (await annex.api('GET', '/v1/jobs')).json.items

  for (const [name, missing] of [
    ['bell', 'channel'],
    ['optional', 'channel'],
    ['component', 'config'],
  ] as const) {
    it(`without its settings runs once, and leaves a pending installation with the reason: ${name}`, async () => {
      const path = await install(name)
      const { status, statusReason } = await withReason(path)
      assert.equal(status, 'pending')
      assert.match(
        statusReason,
        new RegExp(`settings that are not there yet: ${missing}\\. .*\\(request req_`),
      )
      assert.deepEqual(await jobs(), [])
      assert.equal((await logOf(path)).length, 1)
    })
  }

  it('runs again after the next edit, which clears the reason', async () => {
    const path = await install('edited')
    await withReason(path)
    await annex.api('PUT', `${path}/configuration/label`, { value: 'loud' })
    await until(
      () => logOf(path),
      ({ length }) => length === 2,
    )
    const half = await withReason(path)
    assert.deepEqual([half.status, half.problems[0].path], ['pending', '/configuration/channel'])
    await annex.api('PUT', `${path}/configuration/channel`, { value: 'https://chat.example/1' })
    const lines = await until(
      () => logOf(path),
      ({ length }) => length === 3,
    )
    assert.equal(lines[2], 'account set up at chat.example')
    const { status, statusReason } = await read(path)
    assert.deepEqual([status, statusReason], ['active', undefined])
  })

  it('of a site runs again when the account gets its settings', async () => {
    const path = await install('in-site')
    const { site } = annex.server.samples
    await annex.api('POST', `${path}/sites`, { site })
    const pending = await withReason(`${path}/sites/${site}`)
    assert.match(pending.statusReason, /There is no channel yet/)
    assert.equal(pending.status, 'pending')
    await annex.api('PATCH', path, { configuration: { channel: 'https://chat.example/1' } })
    const active = await until(
      () => read(`${path}/sites/${site}`),
      ({ status }) => status === 'active',
    )
    assert.equal(active.statusReason, undefined)
    assert.ok((await logOf(path)).includes('site set up at chat.example'))
  })

  it('does not run endlessly when it acts in the component of its settings', async () => {
    const path = await install('turning')
    const ran = (times: number) =>
      until(
        () => logOf(path),
        ({ length }) => length >= times,
      )
    // The first one makes the level active, which is an edit.
    assert.deepEqual(await ran(2), ['set up', 'set up'])
    const body = { componentId: 'config', action: { action: 'press' } }
    for (const times of [3, 4, 5, 6]) {
      assert.equal((await annex.api('POST', `${path}/render`, body)).status, 200)
      assert.equal((await ran(times)).length, times)
    }
    // The component of a site stores settings of the account, too.
    const { site } = annex.server.samples
    await annex.api('POST', `${path}/sites`, { site })
    await ran(7)
    assert.equal((await annex.api('POST', `${path}/sites/${site}/render`, body)).status, 200)
    assert.equal((await ran(8)).length, 8)
  })

  for (const name of ['broken', 'broken-later']) {
    it(`with all settings is retried, and then kept as a failed job: ${name}`, async () => {
      const path = await install(name)
      if (name === 'broken-later') {
        await withReason(path)
        await annex.api('PATCH', path, { configuration: { channel: 'here' } })
      }
      const [job] = await until(
        async () => (await jobs()).filter(({ installation }) => path.endsWith(installation)),
        ({ length }) => length === 1,
      )
      assert.equal(job.attempts, 4)
    })
  }
})
