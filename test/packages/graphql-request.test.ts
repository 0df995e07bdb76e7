import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { buildSchema, graphql } from 'graphql'
import type { Annex, Json } from '../support/annex.ts'
import { startWithPackages } from './start-with-packages.ts'

const script = `
import { createIntegration } from '@annex/runtime'
import { ClientError, gql, GraphQLClient, request as send } from 'graphql-request'

const Page = gql\`query Page($id: ID!) { page(id: $id) { id title tags } }\`
export default createIntegration({
  fetch: async (request) => {
    const { at, id, what } = await request.json()
    const client = new GraphQLClient(at, { headers: () => ({ authorization: 'Bearer t' }), requestMiddleware: (one) => ({ ...one, headers: { ...Object.fromEntries(new Headers(one.headers)), 'x-middle': 'yes' } }) })
    try {
      if (what === 'plain') return Response.json(await send(at, Page, { id }))
      if (what === 'batch') return Response.json(await client.batchRequests([{ document: Page, variables: { id: '1' } }, { document: '{ me }' }]))
      if (what === 'raw') {
        const { data, status, headers } = await client.rawRequest(Page, { id })
        return Response.json({ data, status, type: headers.get('content-type') })
      }
      if (what === 'abort') {
        const abort = new AbortController()
        const asked = client.request({ document: '{ slow }', signal: abort.signal })
        setTimeout(() => abort.abort(), 20)
        return Response.json(await asked)
      }
      return Response.json(await client.request(Page, { id }))
    } catch (error) {
      return Response.json({ name: error.name, isClientError: error instanceof ClientError, errors: error.response?.errors?.map(({ message, path }) => [message, path]), status: error.response?.status }, { status: 502 })
    }
  },
})`

const schema = buildSchema(
  'type Page { id: ID! title: String! tags: [String!]! } type Query { page(id: ID!): Page! me: String slow: String }',
)

describe('graphql-request in a sandbox', () => {
  let annex: Annex
  let at: string
  const seen: { headers: Record<string, unknown>; body: Json }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = JSON.parse(Buffer.concat(chunks).toString())
    seen.push({ headers: request.headers, body })
    const answer = (one: Json) =>
      graphql({
        schema,
        source: one.query,
        variableValues: one.variables,
        rootValue: {
          page: ({ id }: { id: string }) => {
            if (id === 'none') throw new Error('there is no such page')
            return { id, title: `Page ${id} ✓`, tags: ['a', 'b'] }
          },
          me: () => request.headers.authorization ?? null,
          slow: () => new Promise((resolve) => setTimeout(resolve, 5000).unref()),
        },
      })
    const answers = Array.isArray(body) ? await Promise.all(body.map(answer)) : await answer(body)
    response.setHeader('content-type', 'application/graphql-response+json; charset=utf-8')
    response.end(JSON.stringify(answers))
  })
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    at = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`
    annex = await startWithPackages({ pages: { script, packages: ['graphql-request', 'graphql'] } })
  })
  after(async () => {
    await annex.close()
    server.closeAllConnections()
    server.close()
  })
  const ask = async (body: object): Promise<[number, Json]> => {
    const response = await fetch(`${annex.url}/x/pages`, {
      method: 'POST',
      body: JSON.stringify({ at, ...body }),
    })
    return [response.status, await response.json()]
  }

  it('sends variables, its own headers and a middleware', async () => {
    const page = { id: '7', title: 'Page 7 ✓', tags: ['a', 'b'] }
    assert.deepEqual(await ask({ id: '7' }), [200, { page }])
    assert.equal(seen.at(-1)?.headers.authorization, 'Bearer t')
    assert.equal(seen.at(-1)?.headers['x-middle'], 'yes')
    assert.match(String(seen.at(-1)?.headers['content-type']), /^application\/json/)
    assert.equal(seen.at(-1)?.body.operationName, 'Page')
    assert.deepEqual(await ask({ id: '7', what: 'plain' }), [200, { page }])
    assert.deepEqual(await ask({ id: '7', what: 'raw' }), [
      200,
      { data: { page }, status: 200, type: 'application/graphql-response+json; charset=utf-8' },
    ])
  })

  it('sends several queries in one batch', async () => {
    const [status, [first, second]] = await ask({ what: 'batch' })
    assert.equal(status, 200)
    assert.equal(first.data.page.title, 'Page 1 ✓')
    assert.equal(second.data.me, 'Bearer t')
  })

  it('throws the errors of the server', async () => {
    assert.deepEqual(await ask({ id: 'none' }), [
      502,
      { name: 'Error', isClientError: true, errors: [['there is no such page', ['page']]], status: 200 },
    ])
  })

  it('aborts by a signal', async () => {
    const [status, { name }] = await ask({ what: 'abort' })
    assert.deepEqual([status, name], [502, 'AbortError'])
  })
})
