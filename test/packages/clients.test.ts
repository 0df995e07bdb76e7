import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import type { Annex, Json } from '../support/annex.ts'
import { startWithPackages } from './start-with-packages.ts'

const notion = `
import { createIntegration } from '@annex/runtime'
import { APIResponseError, Client, iteratePaginatedAPI, verifyWebhookSignature } from '@notionhq/client'

export default createIntegration({
  fetch: async (request) => {
    const { at, what, ...given } = await request.json()
    const notion = new Client({ auth: 'secret', baseUrl: at, retry: false })
    if (what === 'verify') return Response.json(await verifyWebhookSignature(given))
    if (what === 'list') {
      const names = []
      for await (const user of iteratePaginatedAPI(notion.users.list, {})) names.push(user.name)
      return Response.json(names)
    }
    try {
      return Response.json(await notion.pages.retrieve({ page_id: given.id }))
    } catch (error) {
      return Response.json({ known: APIResponseError.isAPIResponseError?.(error) ?? error instanceof APIResponseError, code: error.code, status: error.status }, { status: 502 })
    }
  },
})`

const linkedom = `
import { createIntegration } from '@annex/runtime'
import { DOMParser, parseHTML } from 'linkedom'

export default createIntegration({
  fetch: async (request) => {
    const { document, HTMLElement } = parseHTML(await request.text())
    for (const heading of document.querySelectorAll('h1, h2')) heading.id = heading.textContent.toLowerCase()
    const canvas = document.createElement('canvas')
    const feed = new DOMParser().parseFromString('<feed><entry n="1"/><entry n="2"/></feed>', 'text/xml')
    return Response.json({
      html: document.querySelector('main').innerHTML,
      links: [...document.querySelectorAll('a[href^="https:"]')].map((link) => link.href),
      isElement: canvas instanceof HTMLElement,
      entries: [...feed.querySelectorAll('entry')].map((entry) => entry.getAttribute('n')),
    })
  },
})`

describe('npm clients and parsers that import Node modules', () => {
  let annex: Annex
  let at: string
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    const [status, body] = answer(request)
    response.writeHead(status).end(JSON.stringify(body))
  })
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    annex = await startWithPackages({
      notion: { script: notion, packages: ['@notionhq/client'] },
      dom: { script: linkedom, packages: ['linkedom'] },
    })
  })
  after(async () => {
    server.close()
    server.closeAllConnections()
    await annex.close()
  })
  const ask = async (name: string, body: object): Promise<[number, Json]> => {
    const response = await fetch(`${annex.url}/x/${name}`, {
      method: 'POST',
      body: JSON.stringify({ at, ...body }),
    })
    return [response.status, await response.json()]
  }

  it('@notionhq/client reads a page, and reports the error of a missing one', async () => {
    const id = '0123456789abcdef0123456789abcdef'
    assert.deepEqual(await ask('notion', { id }), [200, { object: 'page', id, token: 'Bearer secret' }])
    assert.deepEqual(await ask('notion', { id: 'f'.repeat(32) }), [
      502,
      { known: true, code: 'object_not_found', status: 404 },
    ])
  })

  it('@notionhq/client reads all pages of a list', async () => {
    assert.deepEqual(await ask('notion', { what: 'list' }), [200, ['Ada', 'Grace']])
  })

  it('@notionhq/client verifies a webhook with the crypto of the sandbox', async () => {
    const body = '{"type":"page.created"}'
    const signature = `sha256=${createHmac('sha256', 'token').update(body).digest('hex')}`
    const verify = (verificationToken: string) =>
      ask('notion', { what: 'verify', body, signature, verificationToken })
    assert.deepEqual(await verify('token'), [200, true])
    assert.deepEqual(await verify('another'), [200, false])
  })

  it('linkedom parses, finds, changes and writes HTML and XML', async () => {
    const html =
      '<main><h1>Ünï</h1><p>See <a href="https://example.com/a">a</a> and <a href="/b">b</a></p></main>'
    const response = await fetch(`${annex.url}/x/dom`, { method: 'POST', body: html })
    assert.deepEqual(await response.json(), {
      html: '<h1 id="ünï">Ünï</h1><p>See <a href="https://example.com/a">a</a> and <a href="/b">b</a></p>',
      links: ['https://example.com/a'],
      isElement: true,
      entries: ['1', '2'],
    })
  })
})

function answer({ url = '', headers }: IncomingMessage): [number, object] {
  if (url.startsWith('/v1/users')) {
    const more = !url.includes('start_cursor')
    const results = [{ object: 'user', name: more ? 'Ada' : 'Grace' }]
    return [200, { object: 'list', results, has_more: more, next_cursor: more ? 'next' : null }]
  }
  const id = /^\/v1\/pages\/(0\w+)$/.exec(url)?.[1]
  if (id !== undefined) return [200, { object: 'page', id, token: headers.authorization }]
  return [404, { object: 'error', status: 404, code: 'object_not_found', message: 'no such page' }]
}
