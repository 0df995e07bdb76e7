import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { agree } from '../support/installing.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { startReceiver } from '../support/receiver.ts'

const failing = `
import { createIntegration } from '@annex/runtime'
let runs = 0
export default createIntegration({
  fetch: async (_request, { integration }) => {
    await integration.queueTask({ task: {}, schedule: 0 })
    return new Response('queued')
  },
  task: () => { if (runs++ < 2) throw new Error('it fails twice') },
})`

const sending = (url: string) => `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  events: { site_view: (event, { integration }) => integration.queueDelivery({ url: '${url}', event }) },
})`

const killing = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: (request) => {
    if (new URL(request.url).pathname.endsWith('/kill')) { let n = 2n; for (;;) n = n * n }
    return new Response('alive')
  },
})`

const connecting = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { environment: { apiEndpoint, apiTokens, integration, installation } }) => {
    const path = apiEndpoint + '/v1/integrations/' + integration.name + '/installations/' + installation.id
    const headers = { authorization: 'Bearer ' + apiTokens.installation, 'content-type': 'application/json' }
    const answer = await fetch(path, { method: 'PATCH', headers, body: await request.text() })
    return new Response(await answer.text(), { status: answer.status })
  },
})`

const answering = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: () => new Response('hello') })`

const button = `configurations:
  account:
    properties:
      account: { type: button, title: Account, description: Go, button_text: Go, callback_url: /oauth }`

const view = {
  url: 'https://docs.example/',
  referrer: 'https://search.example/',
  visitor: { anonymousId: 'v', userAgent: 'a', ip: '192.0.2.1', cookies: {} },
}

describe('a problem', () => {
  let annex: Annex
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  const folder = mkdtempSync(join(tmpdir(), 'annex-env-'))
  const envFile = join(folder, '.env')
  const publicServer = createServer((_request, response) => response.end('{"status":"ok"}'))
  let port = 0
  let connected: Awaited<ReturnType<typeof installSample>>
  before(async () => {
    receiver = await startReceiver(410)
    await new Promise<void>((resolve) => publicServer.listen(0, '127.0.0.1', resolve))
    port = (publicServer.address() as { port: number }).port
    await new Promise((resolve) => publicServer.close(resolve))
    writeFileSync(envFile, 'PROVIDER_KEY=a-secret-of-the-provider\n')
    annex = await startAnnex({
      sandboxes: 'processes',
      envFile,
      plugins: {
        waits: { script: killing, more: 'egress: [api.example.com]' },
        failing: { script: failing },
        alone: { script: failing.replace('runs++ < 2', 'true') },
        sending: { script: sending(receiver.url), scopes: ['site:views:read'] },
        killing: { script: killing },
        connecting: { script: connecting, more: button },
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of manifests
        keyed: { more: 'secrets: { KEY: "${{ env.PROVIDER_KEY }}" }' },
      },
      flags: {
        ...{
          DELIVERY_RETRY_SECONDS: '0.1',
          SANDBOX_SPARE: 'true',
          SANDBOX_CPU_MS: '100',
          SANDBOX_RESIDENT_MB: '512',
        },
        ...{ PUBLIC_URL: `http://127.0.0.1:${port}`, DISK_FREE_MB: '999999999' },
      },
    })
  })
  after(async () => {
    await annex.close()
    await receiver.close()
    publicServer.close()
    rmSync(folder, { recursive: true })
  })

  const list = async (kind: string): Promise<Json[]> =>
    (await annex.api('GET', '/v1/problems')).json.items.filter((one: Json) => one.kind === kind)
  const opens = async (kind: string): Promise<Json> => {
    const [problem] = await until(
      () => list(kind),
      (items) => items.length === 1,
    )
    assert.ok(Date.parse(problem.since) <= Date.now() + 1000, problem.since)
    assert.match(problem.sentence, /\.$|:/)
    assert.notEqual(problem.fix.text, '')
    const ofHost = ['folder', 'public_url', 'disk'].includes(kind)
    assert.equal(problem.organizationSubdomain, ofHost ? null : 'home')
    return problem
  }
  const closes = (kind: string): Promise<Json[]> =>
    until(
      () => list(kind),
      (items) => items.length === 0,
    )
  /** As the button of a page: by what the problem says, and nothing else. */
  const mend = ({ fix }: Json): Promise<Json> => {
    const { address, params } = fix.operation
    return annex.client.call(address as 'POST /v1/reload', { params })
  }
  const reach = (endpoint: string): string => annex.url + new URL(endpoint).pathname

  it('is a version that waits for the agreement of an admin', async () => {
    const { id, path } = await installSample(annex, 'waits')
    writePlugin(annex.pluginsDir, 'waits', { script: killing, more: 'egress: [other.example.com]' })
    await annex.api('POST', '/v1/reload')
    const { sentence, subject } = await opens('waiting_version')
    assert.equal(sentence, 'Version 2 of waits waits, as it asks for more.')
    assert.deepEqual(subject, { kind: 'installation', id })
    await annex.api('POST', `${path}/agreement`, await agreementTo(annex, 'waits'))
    await closes('waiting_version')
  })

  it('is an installation that an update made pending, until its settings fit', async () => {
    const names = ['one', 'two', 'three', 'four', 'five']
    const properties = Object.fromEntries(
      names.map((name) => [name, { type: 'string', title: 'T', description: 'd' }]),
    )
    // Both levels in each version: a new one would wait for an agreement.
    const settings = (level: string, required: readonly string[]) =>
      `configurations: ${JSON.stringify({
        ...{ account: { properties }, site: { properties } },
        [level]: { properties, required },
      })}`
    const update = async (level: string, required: readonly string[]) => {
      writePlugin(annex.pluginsDir, 'updated', { script: answering, more: settings(level, required) })
      await annex.api('POST', '/v1/reload')
    }
    await update('account', [])
    const { id, path: sitePath } = await installSample(annex, 'updated', 'site')
    const path = `/v1/integrations/updated/installations/${id}`
    assert.deepEqual(await list('pending'), [])
    await update('account', ['two'])
    const problem = await opens('pending')
    assert.equal(
      problem.sentence,
      'updated is pending and gets no events: its settings do not fit version 2. two is required.',
    )
    assert.deepEqual(problem.subject, { kind: 'installation', id })
    assert.deepEqual(problem.fix, {
      text: 'Give each of these settings a value that fits.',
      command: `npx annex installations ${id}`,
      operation: null,
    })
    const home = (await annex.api('POST', '/v1/orgs/home/tokens', { role: 'reader' })).json.token
    const other = (await annex.api('POST', '/v1/orgs', { subdomain: 'pending-other', title: 'O' })).json.id
    const theirs = (await annex.api('POST', `/v1/orgs/${other}/tokens`, { role: 'reader' })).json.token
    const seen = async (token: string) =>
      (await annex.api('GET', '/v1/problems', undefined, token)).json.items.filter(
        ({ kind }: Json) => kind === 'pending',
      )
    assert.deepEqual(await seen(home), [problem])
    assert.deepEqual(await seen(theirs), [])
    await annex.api('PUT', `${path}/configuration/two`, { value: 'set' })
    await closes('pending')
    // A site of its own, and more settings than a sentence names.
    await update('site', names)
    const ofSite = await opens('pending')
    assert.match(ofSite.sentence, /^updated is pending in Sample site and gets no events: .*version 3\. /)
    assert.match(ofSite.sentence, /(; .*){2} There is 1 more\.$/)
    await annex.api('POST', '/v1/integrations/updated/rollback', { version: 2 })
    await closes('pending')
    await annex.api('POST', '/v1/integrations/updated/unpin', {})
    await opens('pending')
    await annex.api('DELETE', sitePath)
    await closes('pending')
  })

  it('names settings of which one must be on once', async () => {
    const views = { type: 'boolean', title: 'V', description: 'd' }
    const update = async (account: object) => {
      const more = `configurations: ${JSON.stringify({ account })}`
      writePlugin(annex.pluginsDir, 'any', { script: answering, more })
      await annex.api('POST', '/v1/reload')
    }
    const properties = { views, feedback: views }
    await update({ properties })
    const { path } = await installSample(annex, 'any')
    await update({ properties, requiredAny: ['views', 'feedback'] })
    const { sentence } = await opens('pending')
    assert.equal(
      sentence,
      'any is pending and gets no events: its settings do not fit version 2. views is required: turn on one of views, feedback.',
    )
    await annex.api('PUT', `${path}/configuration/feedback`, { value: true })
    await closes('pending')
  })

  for (const level of ['account', 'site', 'space'] as const)
    it(`is no ${level} that waits for its first settings`, async () => {
      const name = `first-${level}`
      const declare = (required: readonly string[]) => {
        const properties = { a: { type: 'string', title: 'A', description: 'd' } }
        const more = `configurations: ${JSON.stringify({ [level]: { properties, required } })}`
        writePlugin(annex.pluginsDir, name, { script: answering, more })
        return annex.api('POST', '/v1/reload')
      }
      await declare(['a'])
      const installations = `/v1/integrations/${name}/installations`
      const body = { organization: 'home', ...(await agreementTo(annex, name)) }
      const { id } = (await annex.api('POST', installations, body)).json
      let path = `${installations}/${id}`
      if (level !== 'account') {
        const place = annex.server.samples[level]
        await annex.api('POST', `${path}/${level}s`, { [level]: place })
        path += `/${level}s/${place}`
      }
      await until(
        () => annex.api('GET', `/v1/jobs?installation=${id}`),
        ({ json }) => json.items.length === 0,
      )
      const { status, problems } = (await annex.api('GET', path)).json
      assert.deepEqual([status, problems.length], ['pending', 1])
      assert.deepEqual(await list('pending'), [])
      // Without a version no setting is missing. It waits on when the folder is there again.
      rmSync(join(annex.pluginsDir, name), { recursive: true })
      await annex.api('POST', '/v1/reload')
      await declare(['a'])
      assert.equal((await annex.api('GET', path)).json.status, 'pending')
      assert.deepEqual(await list('pending'), [])
      // A version that needs none makes it active. The next one makes it pending.
      await declare([])
      await declare(['a'])
      await opens('pending')
      await annex.api('PUT', `${path}/configuration/a`, { value: 'set' })
      await closes('pending')
    })

  it('is a folder with errors, until they are repaired', async () => {
    writePlugin(annex.pluginsDir, 'wrong', { script: failing, more: 'visibilty: public' })
    await annex.api('POST', '/v1/reload')
    const problem = await opens('folder')
    const { sentence, fix, subject } = problem
    assert.match(
      sentence,
      /^The plugin folder wrong has errors, .*: service-manifest\.yaml:\d+:1 unknown field "visibilty"/,
    )
    assert.match(fix.text, /npx annex check/)
    assert.deepEqual(subject, { kind: 'folder', id: 'wrong' })
    writePlugin(annex.pluginsDir, 'wrong', { script: failing })
    await mend(problem)
    await closes('folder')
  })

  it('is a failed job, until it is run again', async () => {
    const { id, endpoint } = await installSample(annex, 'failing')
    await until(
      () => annex.api('GET', `/v1/jobs?installation=${id}`),
      ({ json }) => json.items.length === 0,
    )
    assert.equal(await (await fetch(reach(endpoint))).text(), 'queued')
    const { sentence, fix } = await opens('failed_work')
    assert.equal(sentence, 'failing has 1 failed event or task.')
    assert.equal(fix.command, `npx annex jobs list --installation ${id}`)
    const [job] = (await annex.api('GET', `/v1/jobs?installation=${id}`)).json.items
    await annex.api('POST', `/v1/jobs/${job.id}/run`)
    await closes('failed_work')
  })

  it('is a failed task of the whole integration, until it is discarded', async () => {
    await fetch(`${annex.url}/x/alone`)
    const { sentence, subject } = await opens('failed_work')
    assert.equal(sentence, 'alone has 1 failed task outside of its installations.')
    assert.deepEqual(subject, { kind: 'integration', id: 'alone' })
    const [job] = (await annex.api('GET', '/v1/jobs?kind=task')).json.items
    assert.equal((await annex.api('DELETE', `/v1/jobs/${job.id}`)).status, 204)
    await closes('failed_work')
    assert.equal((await annex.api('DELETE', `/v1/jobs/${job.id}`)).status, 404)
    const [entry] = (await annex.api('GET', `/v1/audit?subject=${job.id}`)).json.items
    assert.deepEqual([entry.action, entry.before.event.type], ['job.discard', 'task'])
  })

  it('is a disabled receiver, until a person resumes it', async () => {
    await installSample(annex, 'sending', 'site')
    const { organization, site } = annex.server.samples
    await until(
      () =>
        annex.api('POST', `/v1/events?organization=${organization}`, {
          type: 'site_view',
          siteId: site,
          ...view,
        }),
      ({ json }) => json.installations === 1,
    )
    const problem = await opens('receiver')
    assert.match(problem.sentence, /It answered 410 Gone/)
    await mend(problem)
    await closes('receiver')
  })

  it('is a suspended script, until a person resumes it', async () => {
    const { id, endpoint } = await installSample(annex, 'killing')
    for (let n = 0; n < 8 && (await list('suspended')).length === 0; n++)
      await fetch(`${reach(endpoint)}/kill`)
    const problem = await opens('suspended')
    assert.deepEqual(problem.subject, { kind: 'installation', id })
    await mend(problem)
    await closes('suspended')
  })

  it('is a connection that its provider ended, until it is renewed', async () => {
    connected = await installSample(annex, 'connecting')
    const { endpoint, path } = connected
    const patch = async (body: object): Promise<void> => {
      const answer = await fetch(reach(endpoint), { method: 'POST', body: JSON.stringify(body) })
      assert.equal(answer.status, 200, await answer.text())
    }
    const credentials = { access_token: 'token-of-the-provider' }
    await patch({ configuration: { oauth_credentials: credentials }, connection: { callback: '/oauth' } })
    const error = `invalid_grant for ${credentials.access_token}`
    await patch({ connection: { names: ['account'], error } })
    const problem = await opens('connection')
    const { sentence } = problem
    assert.match(sentence, /^The connection account of connecting is broken: invalid_grant for \[secret /)
    assert.equal(sentence.includes(credentials.access_token), false)
    // The person goes on at the provider.
    assert.match((await mend(problem)).url, /\/connect\/[\w-]{43}$/)
    await annex.api('DELETE', `${path}/configuration/account`)
    await closes('connection')
  })

  it('is an expired connection without a refresh token, until it is made again', async () => {
    const { path, endpoint } = connected
    const connect = async (expiresAt: number): Promise<void> => {
      const configuration = { oauth_credentials: { access_token: 'another-token', expires_at: expiresAt } }
      const body = JSON.stringify({ configuration, connection: { callback: '/oauth' } })
      assert.equal((await fetch(reach(endpoint), { method: 'POST', body })).status, 200)
    }
    const ended = Date.now() - 1000
    await connect(ended)
    const { sentence, since } = await opens('connection')
    assert.match(sentence, /has expired, and cannot be renewed/)
    assert.equal(Date.parse(since), ended)
    const { connections } = (await annex.api('GET', path)).json
    assert.equal(connections.account.state, 'broken')
    await connect(Date.now() + 3_600_000)
    await closes('connection')
  })

  it('is a missing secret, until it is set', async () => {
    writeFileSync(envFile, '')
    await annex.api('POST', '/v1/reload')
    const problem = await opens('secret')
    assert.equal(
      problem.sentence,
      'keyed runs without its secret KEY. What needs it is answered with an error that names it.',
    )
    writeFileSync(envFile, 'PROVIDER_KEY=a-secret-of-the-provider\n')
    await mend(problem)
    await closes('secret')
  })

  it('is a missing secret of an older version that an installation still runs', async () => {
    const { path } = await installSample(annex, 'keyed')
    writePlugin(annex.pluginsDir, 'keyed', { more: 'contentSecurityPolicy: "img-src a.example"' })
    writeFileSync(envFile, '')
    await annex.api('POST', '/v1/reload')
    assert.match((await opens('secret')).sentence, /^keyed runs without its secret KEY\./)
    await agree(annex, path)
    await closes('secret')
  })

  it('is a PUBLIC_URL without an Annex behind it', async () => {
    const { sentence } = await opens('public_url')
    assert.match(sentence, /^Annex cannot reach itself at PUBLIC_URL/)
    await new Promise<void>((resolve) => publicServer.listen(port, '127.0.0.1', resolve))
    await closes('public_url')
  })

  it('is a disk with little space, which organizations do not see', async () => {
    assert.match((await opens('disk')).sentence, /^The disk of DATA_DIR has \d+ MB left\.$/)
    const { organization } = annex.server.samples
    const { token } = (await annex.api('POST', `/v1/orgs/${organization}/tokens`, {})).json
    const { json } = await annex.api('GET', '/v1/problems', undefined, token)
    assert.deepEqual(
      json.items.filter((one: Json) => one.organization === null),
      [],
    )
    const other = await startAnnex({ flags: { DISK_FREE_MB: '1' } })
    try {
      assert.deepEqual((await other.api('GET', '/v1/problems')).json.items, [])
    } finally {
      await other.close()
    }
  })
})
