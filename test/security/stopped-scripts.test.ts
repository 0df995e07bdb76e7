// tier: wall (attacks by scripts that end their process)

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'
import { installIn } from '../support/installing.ts'
import { type PluginSource, writePlugin } from '../support/plugin-folder.ts'

const plugin: PluginSource = {
  script: `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: (request, { environment }) => {
    // One operation on huge numbers, which only the end of the process stops.
    if (request.url.endsWith('/kill')) { let n = 2n; for (;;) n = n * n }
    return Response.json(environment.apiTokens)
  },
  events: {
    installation_deleted: async (event, { environment }) => {
      const answer = await fetch(environment.apiEndpoint + '/v1/integrations/stops/installations/' + event.installationId, {
        headers: { authorization: 'Bearer ' + environment.apiTokens.installation },
      })
      console.log('last ' + answer.status)
    },
  },
})`,
  scopes: ['space:content:read', 'space:content:write'],
}

describe('the tokens of a stopped script', () => {
  let annex: Annex
  let path: string
  let space: string
  let endpoints: Record<'whole' | 'installation' | 'space', string>

  before(async () => {
    annex = await startAnnex({
      sandboxes: 'processes',
      plugins: { stops: plugin },
      flags: { SANDBOX_CPU_MS: '200', SANDBOX_RESIDENT_MB: '512' },
    })
    const { organization } = annex.server.samples
    const installed = await installIn(annex, 'stops', organization)
    path = installed.path
    space = (await annex.api('POST', '/v1/orgs/home/spaces', { slug: 'own', title: 'Own' })).json.id
    await annex.api('PUT', `/v1/spaces/${space}/content/page/plan`, { title: 'Plan', markdown: 'x' })
    const inSpace = await annex.api('POST', `${path}/spaces`, { space })
    endpoints = {
      whole: `${annex.url}/x/stops`,
      installation: installed.endpoint,
      space: inSpace.json.urls.publicEndpoint,
    }
  })
  after(() => annex.close())

  const tokensAt = async (endpoint: string): Promise<string[]> =>
    Object.values((await (await fetch(endpoint)).json()) as object)

  /** What a script could do with a token: read settings and content, change both, mint, and queue. */
  const acts = (): [method: string, path: string, body?: object][] => [
    ['GET', path],
    ['PATCH', path, { configuration: { changed: true } }],
    ['GET', `/v1/spaces/${space}/content`],
    ['PUT', `/v1/spaces/${space}/content/page/plan`, { title: 'Changed', markdown: 'y' }],
    ['GET', `${path}/spaces/${space}`],
    ['POST', '/v1/integrations/stops/tasks', { task: { type: 'later' } }],
  ]
  const whole = (): [method: string, path: string][] => [
    ['GET', '/v1/integrations/stops/installations'],
    ['GET', '/v1/integrations/stops/spaces'],
    ['POST', `${path}/tokens`],
    ['GET', '/v1/me'],
  ]
  const codes = async (token: string, calls: [string, string, object?][]): Promise<(string | number)[]> => {
    const seen = new Set<string | number>()
    for (const [method, at, body] of calls) {
      const { status, json } = await annex.api(method, at, body, token)
      // Some operations are not for the token of an installation at all.
      if (status === 403 && json.error.code === 'forbidden') continue
      seen.add(status < 300 ? 'done' : (json.error.code as string))
    }
    return [...seen]
  }

  it('have no effect during a pause, and work again after the resume', async () => {
    const [ofInstallation, ofSpace] = [
      await tokensAt(endpoints.installation),
      await tokensAt(endpoints.space),
    ]
    const [outside = ''] = await tokensAt(endpoints.whole)
    const minted = (await annex.api('POST', `${path}/tokens`, undefined, outside)).json.token
    const all = [...ofInstallation, ...ofSpace]
    assert.equal((await annex.api('POST', `${path}/pause`)).status, 200)
    for (const token of all)
      assert.deepEqual(await codes(token, [...acts(), ...whole()]), ['installation_paused'])
    assert.deepEqual(await codes(minted, acts()), ['installation_paused'])
    assert.deepEqual(await codes(outside, acts().slice(0, 5)), ['installation_paused'])
    assert.equal((await annex.api('POST', `${path}/resume`)).status, 200)
    for (const token of [...all, minted, outside]) assert.deepEqual(await codes(token, acts()), ['done'])
  })

  it('have no effect during a suspension, and work again after the resume', async () => {
    const all = [...(await tokensAt(endpoints.installation)), ...(await tokensAt(endpoints.space))]
    const [outside = ''] = await tokensAt(endpoints.whole)
    const minted = (await annex.api('POST', `${path}/tokens`, undefined, outside)).json.token
    await until(
      async () => (await fetch(`${endpoints.installation}/kill`)).json() as Promise<Json>,
      ({ error }) => error.code === 'installation_suspended',
    )
    assert.equal((await annex.api('GET', path)).json.status, 'suspended')
    for (const token of all)
      assert.deepEqual(await codes(token, [...acts(), ...whole()]), ['installation_suspended'])
    assert.deepEqual(await codes(minted, acts()), ['installation_suspended'])
    assert.deepEqual(await codes(outside, acts().slice(0, 5)), ['installation_suspended'])
    assert.equal((await annex.api('POST', `${path}/resume`)).status, 200)
    for (const token of [...all, minted, outside]) assert.deepEqual(await codes(token, acts()), ['done'])
  })

  it('have no effect without the plugin folder, and work again with it', async () => {
    const all = (await Promise.all(Object.values(endpoints).map(tokensAt))).flat()
    rmSync(join(annex.pluginsDir, 'stops'), { recursive: true })
    await annex.api('POST', '/v1/reload')
    for (const token of all) assert.deepEqual(await codes(token, [...acts(), ...whole()]), ['no_version'])
    writePlugin(annex.pluginsDir, 'stops', plugin)
    await annex.api('POST', '/v1/reload')
    for (const token of all) assert.deepEqual(await codes(token, acts()), ['done'])
  })

  it('reach a paused installation in its last event, and end with it', async () => {
    const [, old = ''] = await tokensAt(endpoints.installation)
    await annex.api('POST', `${path}/pause`)
    assert.equal((await annex.api('DELETE', path)).status, 204)
    const logs = await until(
      () => annex.api('GET', '/v1/logs?integration=stops'),
      ({ json }) => json.items.some(({ text }: Json) => text.startsWith('last ')),
    )
    assert.ok(
      logs.json.items.some(({ text }: Json) => text === 'last 200'),
      logs.text,
    )
    const gone = await annex.api('GET', path, undefined, old)
    assert.ok([401, 503].includes(gone.status), gone.text)
  })
})
