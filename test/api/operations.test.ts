import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createOperations } from '../../host/api/operations.ts'
import { loadApi } from '../../schemas/api.ts'
import { standAlone } from '../../schemas/assemble-api.ts'
import { createCheck } from '../../schemas/create-check.ts'
import type { Schema } from '../../schemas/openapi.ts'
import { type Annex, installSample, type Json, request, startAnnex } from '../support/annex.ts'

const formats = { from: 'ajv-formats/dist/formats.js', name: 'fullFormats' }

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: (request, { environment }) => Response.json(environment.apiTokens),
})`

describe('an operation of the API', () => {
  let annex: Annex
  let member: string
  let tokens: { integration: string; installation: string }
  const ask = (method: string, path: string, token: string, body?: unknown) =>
    request(annex.url, method, path, body, token)
  before(async () => {
    annex = await startAnnex({ plugins: { asks: { script, scopes: ['space:metadata:read'] } } })
    member = (await annex.api('POST', '/v1/orgs/home/tokens', {})).json.token
    const { endpoint } = await installSample(annex, 'asks', 'space')
    tokens = (await (await fetch(endpoint)).json()) as typeof tokens
  })
  after(() => annex.close())

  it('refuses a role that its schema does not list, and names the roles', async () => {
    const { status, json } = await ask('POST', '/v1/orgs', member, { subdomain: 'a', title: 'A' })
    assert.deepEqual([status, json.error.code], [403, 'forbidden'])
    assert.match(json.error.message, /POST \/v1\/orgs is for the roles operator\. .* role admin/)
    const { status: ofScript } = await ask('GET', '/v1/orgs', tokens.installation)
    assert.equal(ofScript, 403)
  })

  it('refuses a body with a detail for each wrong field', async () => {
    const { status, json } = await annex.api('POST', '/v1/orgs', { subdomain: 'A B', name: 'A' })
    assert.deepEqual([status, json.error.code], [422, 'body_invalid'])
    const paths = json.error.details.map(({ path }: Json) => path)
    assert.deepEqual(paths.toSorted(), ['/name', '/subdomain', '/title'])
  })

  it('refuses an unknown query parameter of a person, and ignores that of a script', async () => {
    const path = `/v1/spaces/${annex.server.samples.space}?shareKey=a`
    const { status, json } = await annex.api('GET', path)
    assert.deepEqual([status, json.error.code], [400, 'bad_request'])
    assert.match(json.error.message, /"shareKey" .* takes: organization/)
    const { status: ofScript } = await ask('GET', path, tokens.installation)
    assert.equal(ofScript, 200)
  })

  it('tells a script the missing scope only of a record within its reach', async () => {
    const within = await ask('GET', `/v1/spaces/${annex.server.samples.space}/content`, tokens.installation)
    assert.deepEqual([within.status, within.json.error.code], [403, 'missing_scope'])
    assert.match(within.json.error.message, /space:content:read/)
    const outside = await ask('GET', '/v1/spaces/space_0/content', tokens.installation)
    assert.equal(outside.status, 404)
  })

  it('is listed by GET /v1/me if the token may call it', async () => {
    const me = async (token: string) => (await ask('GET', '/v1/me', token)).json
    const { role, organization, allowed } = await me(member)
    assert.deepEqual([role, organization.subdomain], ['admin', 'home'])
    assert.ok(allowed.includes('createSite') && !allowed.includes('createOrganization'), allowed.join())
    const script = await me(tokens.installation)
    assert.deepEqual([script.role, script.integration], ['installation', 'asks'])
    assert.match(script.installation, /^inst_/)
    assert.deepEqual(script.scopes, ['space:metadata:read'])
    assert.ok(script.allowed.includes('getSpaceById') && !script.allowed.includes('getCurrentRevision'))
    const whole = await me(tokens.integration)
    assert.deepEqual([whole.role, whole.integration, whole.installation], ['integration', 'asks', undefined])
    const operator = await annex.api('GET', '/v1/me')
    assert.deepEqual([operator.json.role, operator.json.organization], ['operator', undefined])
    assert.ok(operator.json.allowed.includes('createOrganization'))
    assert.equal((await request(annex.url, 'GET', '/v1/me')).status, 401)
  })

  it('answers with no-store, also with errors', async () => {
    const { token } = (await annex.api('POST', '/v1/orgs/home/tokens', {})).json
    const answers = [
      await ask('GET', '/v1/me', token),
      await annex.api('POST', '/v1/orgs/home/tokens', {}),
      await ask('GET', '/v1/orgs/none', token),
      await request(annex.url, 'GET', '/v1/orgs'),
    ]
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers.get('cache-control')]),
      [200, 201, 404, 401].map((status) => [status, 'no-store']),
    )
  })

  it('has exactly one handler', () => {
    const api = loadApi()
    const rateLimits = { countVisitor: () => undefined }
    const parts = {
      authenticate: () => Promise.reject(new Error('not called')),
      rateLimits,
      onMissed: () => {},
      onScopeUsed: () => {},
    }
    const { on, addTo } = createOperations(api, parts)
    assert.throws(() => addTo({} as never), /^Error: [A-Z]+ \/\S* has no handler/)
    on('GET /v1/spaces/{space}', () => Promise.reject(new Error('not called')))
    assert.throws(() => on('GET /v1/spaces/{space}', () => Promise.reject(new Error())), /two handlers/)
  })
})

describe('the files of schemas/api', () => {
  it('give each operation an id, a summary, its roles, and examples that fit its schemas', () => {
    const { document, operations } = loadApi()
    const assertFits = (schema: Schema, example: unknown, of: string) => {
      const check = createCheck(standAlone(schema, document), { strict: false, formats })()
      assert.ok(check(example), `${of}: ${JSON.stringify(check.errors)}`)
    }
    assert.equal(new Set(operations.map(({ id }) => id)).size, operations.length)
    for (const [name, schema] of Object.entries(document.components.schemas ?? {})) {
      for (const example of [schema.examples ?? []].flat()) assertFits(schema, example, name)
    }
    for (const { id, summary, roles, answers, success, body, bodyExample } of operations) {
      assert.ok(summary !== '' && roles.length > 0, id)
      const json = answers[success]?.content?.['application/json']
      if (json?.schema !== undefined) assertFits(json.schema, json.example, `the answer of ${id}`)
      if (body !== undefined) assertFits(body, bodyExample, `the body of ${id}`)
    }
  })

  it('have no HTML in their descriptions, which are shown as Markdown', () => {
    const texts: unknown[] = []
    JSON.stringify(loadApi().document, (key, value) => {
      if (key === 'description' || key === 'summary') texts.push(value)
      return value
    })
    for (const text of texts) assert.doesNotMatch(`${text}`, /<[a-z]/i)
  })
})
