import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

const script = (provider: string) => `
import { createIntegration, createOAuthHandler, getOAuthToken } from '@annex/runtime'
const config = ({ secrets }) => ({
  clientId: secrets.CLIENT_ID, clientSecret: secrets.CLIENT_SECRET,
  authorizeURL: '${provider}/authorize', accessTokenURL: '${provider}/token',
})
const ways = {
  address: ({ secrets }) => Response.redirect(\`${provider}/authorize?client_id=\${secrets.CLIENT_ID}\`),
  header: ({ secrets }) => fetch('${provider}/me', { headers: { 'x-key': String(secrets.CLIENT_SECRET) } }),
  form: ({ secrets }) => fetch('${provider}/token', { method: 'POST', body: new URLSearchParams({ secret: secrets.CLIENT_SECRET }) }),
  copy: ({ secrets }) => fetch('${provider}/' + { ...secrets }.CLIENT_ID),
  json: ({ secrets }) => fetch('${provider}/', { method: 'POST', body: JSON.stringify(secrets) }),
  parts: ({ secrets: { CLIENT_ID } }) => fetch('${provider}/' + CLIENT_ID),
  other: ({ secrets }) => new Response(secrets.OTHER + ' ' + Object.keys(secrets)),
  none: ({ secrets }) => { console.log('secrets', secrets); return new Response('here') },
}
export default createIntegration({
  fetch: async (request, context) => {
    const { environment } = context
    const way = new URL(request.url).pathname.split('/').at(-1)
    if (way === 'queue') {
      await context.integration.queueTask({ task: { n: 1 } })
      return new Response('queued')
    }
    if (way === 'oauth') return createOAuthHandler(config(environment))(request, context)
    // An undeclared name.
    if (way === 'undeclared') {
      const { CLEINT_ID: clientId, clientSecret = 'shh' } = environment.secrets
      return createOAuthHandler({ ...config({ secrets: {} }), clientId, clientSecret })(request, context)
    }
    if (way === 'refresh') {
      const credentials = { access_token: 'a', refresh_token: 'r', expires_at: 1 }
      return new Response(await getOAuthToken(credentials, { ...config({ secrets: {} }), clientId: 'id' }, context))
    }
    if (way === 'by-hand') return Response.redirect(\`${provider}/authorize?response_type=code&client_id=\${environment.secrets.NONE}&state=x\`)
    return ways[way](environment)
  },
  task: ({ n }, { environment }) => fetch('${provider}/' + n + environment.secrets.CLIENT_ID),
})`

const manifest = `secrets:
  CLIENT_ID: \${{ env.UNSET_CLIENT_ID }}
  CLIENT_SECRET: \${{ env.UNSET_CLIENT_SECRET }}
  OTHER: \${{ env.UNSET_OTHER }}
configurations:
  account:
    properties:
      connection: { type: button, title: Account, description: Go, button_text: Go, callback_url: /oauth }
      more: { type: button, title: More, description: Go, button_text: Go, callback_url: /undeclared }
      hand: { type: button, title: Hand, description: Go, button_text: Go, callback_url: /by-hand }`

const all = 'UNSET_CLIENT_ID=id-1234\nUNSET_CLIENT_SECRET=a-long-secret\nUNSET_OTHER=other\n'

describe('a missing secret', () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-env-'))
  const envFile = join(folder, '.env')
  const asked: string[] = []
  const provider = createServer(async (request, response) => {
    asked.push(`${request.url} ${JSON.stringify(request.headers)} ${await text(request)}`)
    response.end('{}')
  }).listen(0, '127.0.0.1')
  let annex: Annex
  let installed: Awaited<ReturnType<typeof installSample>>
  before(async () => {
    if (!provider.listening) await once(provider, 'listening')
    const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
    writeFileSync(envFile, all)
    annex = await startAnnex({ envFile, plugins: { ledger: { script: script(url), more: manifest } } })
    assert.deepEqual(annex.server.plugins[0]?.problems, [])
    installed = await installSample(annex, 'ledger')
  })
  after(async () => {
    await annex.close()
    provider.close()
    rmSync(folder, { recursive: true })
  })

  const get = (way: string, accept = 'application/json') =>
    fetch(`${installed.endpoint}/${way}`, { redirect: 'manual', headers: { accept } })
  const secretsMissing = async (): Promise<string[]> =>
    (await annex.api('GET', '/v1/problems')).json.items
      .filter(({ kind }: Json) => kind === 'secret')
      .map(({ sentence }: Json) => sentence.split('.')[0])
      .sort()
  const setVariables = async (variables: string) => {
    writeFileSync(envFile, variables)
    await annex.api('POST', '/v1/reload')
  }

  it('stops each use with an error that names it, and sends nothing to the provider', async () => {
    await setVariables('UNSET_OTHER=other\nUNSET_CLIENT_SECRET=op://vault/ledger/secret\n')
    assert.deepEqual(await secretsMissing(), [
      'ledger runs without its secret CLIENT_ID',
      'ledger runs without its secret CLIENT_SECRET',
    ])
    for (const way of ['address', 'header', 'form', 'copy', 'json', 'parts', 'oauth']) {
      const answer = await get(way)
      const { error } = (await answer.json()) as Json
      assert.equal(answer.status, 503, way)
      assert.match(
        error.message,
        /^The secret CLIENT_(ID|SECRET) is not set on this Annex\. `npx annex problems` /,
      )
    }
    assert.deepEqual(asked, [])
  })

  it('does not stop other parts of the script, nor a list of the names', async () => {
    assert.equal(await (await get('other')).text(), 'other CLIENT_ID,CLIENT_SECRET,OTHER')
    assert.equal(await (await get('none')).text(), 'here')
  })

  it('is named on the page of a connect link', async () => {
    const { json } = await annex.api('POST', `${installed.path}/connect`, { path: '/oauth' })
    const page = await fetch(json.url, { redirect: 'manual', headers: { accept: 'text/html' } })
    assert.match(await page.text(), /secret CLIENT_ID is not set/)
  })

  it('is named in the log of a task that reads it', async () => {
    assert.equal(await (await get('queue')).text(), 'queued')
    const lines = await until(
      async () => (await annex.api('GET', `/v1/logs?installation=${installed.id}`)).json.items,
      (items: Json[]) =>
        items.some(({ text }) => /task/i.test(text) && /secret CLIENT_ID is not set/.test(text)),
    )
    assert.doesNotMatch(JSON.stringify(lines), /undefined/)
    assert.deepEqual(asked, [])
  })

  it('is not sent either if the manifest does not declare it or the client has no id', async () => {
    for (const way of ['undeclared', 'refresh', 'by-hand']) {
      const answer = await get(way)
      assert.ok([503, 403].includes(answer.status), `${way} ${answer.status}`)
      assert.match(((await answer.json()) as Json).error.message, /client_(id|secret)/)
    }
    assert.deepEqual(asked, [])
  })

  it('works again once it is set', async () => {
    await setVariables(all)
    assert.deepEqual(await secretsMissing(), [])
    const answer = await until(
      () => get('address'),
      ({ status }) => status !== 503,
    )
    assert.match(answer.headers.get('location') ?? '', /client_id=id-1234$/)
  })
})
