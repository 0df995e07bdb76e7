import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApiClient } from '../../runtime/sdk/api/client.ts'
import { loadApi } from '../../schemas/api.ts'

/** Routes of the other platform that Annex does not have yet. The client's methods answer with a sentence. */
const missing = [
  'importGitRepository',
  'exportToGitRepository',
  'getSpaceGitInfo',
  'askInOrganization',
  'streamAskInOrganization',
  'getContentByUrl',
]

/** The method and path that a client's method asks for, with `{}` for each of its arguments. */
async function routeOf(call: (...given: string[]) => unknown): Promise<string> {
  const { fetch } = globalThis
  const asked: string[] = []
  globalThis.fetch = async (input, init) => {
    asked.push(`${init?.method} ${new URL(String(input)).pathname}`)
    return Response.json({})
  }
  try {
    await Promise.resolve(call('ARG', 'ARG', 'ARG', 'ARG'))
  } catch {
    // A stream of events does not begin with JSON: the request was made.
  } finally {
    globalThis.fetch = fetch
  }
  return asked[0]?.replaceAll('ARG', '{}') ?? ''
}

const access = { endpoint: 'http://annex.invalid', token: 'token', userAgent: 'integration-x/1' }

test('the methods of the SDK’s client are operations with the same name', async () => {
  const { operations } = loadApi()
  const ids = new Map(
    operations.map(({ id, method, path }) => [`${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`, id]),
  )
  const client = createApiClient(access)
  const groups = ['spaces', 'integrations', 'orgs', 'urls'] as const
  let count = 0
  for (const group of groups) {
    for (const [name, call] of Object.entries(client[group])) {
      const route = await routeOf(call as never)
      const id = ids.get(route)
      if (id === undefined)
        assert.ok(missing.includes(name), `${String(group)}.${name}: ${route} is no operation`)
      else assert.equal(id, name, route)
      count += 1
    }
  }
  assert.ok(count > 20)
})

test('a method that the client lacks rejects with its name', async () => {
  const client = createApiClient(access)
  const { orgs } = client
  const { ingestConversation } = orgs as unknown as { ingestConversation: () => Promise<unknown> }
  await assert.rejects(
    ingestConversation,
    /^Error: Annex has no method api\.orgs\.ingestConversation\. docs\/sdk\.md lists/,
  )
  const { search } = client as unknown as { search: { searchContent: () => Promise<unknown> } }
  await assert.rejects(search.searchContent, /Annex has no method api\.search\.searchContent\./)
  for (const one of [client, orgs, search]) {
    assert.equal(await one, one)
    assert.equal(String(one), '[object Object]')
    assert.equal(typeof JSON.stringify(one), 'string')
  }
})
