import { request as send } from 'node:http'
import type { Json } from './annex.ts'
import { createAuthenticator } from './authenticator.ts'
import { assertErrorAnswer } from './check-answers.ts'

export type PageAnswer = {
  status: number
  json: Json
  headers: Record<string, string | string[] | undefined>
}

type Sent = { headers?: Record<string, string>; body?: unknown }

/** A page of Annex in a browser: it keeps cookies, and sends what a browser sends. */
export type OwnPage = {
  cookies: Map<string, string>
  origin: string
  call: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<PageAnswer>
}

const sameOrigin = { 'sec-fetch-site': 'same-origin' }

/**
 * @param given.host the host of its address. Default: that of `url`
 * @param given.takesSecure false for a browser that drops secure cookies over HTTP
 */
export function createOwnPage(
  url: string,
  given: { host?: string; takesSecure?: boolean; headers?: Record<string, string> } = {},
): OwnPage {
  const { takesSecure = true } = given
  const { host = new URL(url).host, headers: always = sameOrigin } = given
  const cookies = new Map<string, string>()
  return {
    cookies,
    origin: `http://${host}`,
    async call(method, path, body, headers = {}) {
      const jar = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const answer = await sendRequest(url + path, method, {
        body,
        headers: { host, ...always, ...(jar !== '' && { cookie: jar }), ...headers },
      })
      for (const cookie of answer.headers['set-cookie'] ?? []) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
        if (/; Max-Age=0/i.test(cookie)) cookies.delete(name)
        else if (takesSecure || !/; Secure/i.test(cookie)) cookies.set(name, value)
      }
      return answer
    },
  }
}

/** Not by `fetch`, which does not let a caller set `Host`. */
export function sendRequest(url: string, method: string, { headers = {}, body }: Sent): Promise<PageAnswer> {
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method,
      headers: {
        ...(text !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        }),
        ...headers,
      },
    })
    request.on('error', reject)
    request.on('response', async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      const answered = Buffer.concat(chunks).toString()
      let json: Json
      try {
        json = JSON.parse(answered)
      } catch {
        json = undefined
      }
      const { statusCode: status = 0, headers: received } = response
      try {
        if (status >= 400) assertErrorAnswer(json, `${method} ${url}: ${answered}`)
        resolve({ status, json, headers: received })
      } catch (error) {
        reject(error)
      }
    })
    request.end(text)
  })
}

export const password = 'a sentence that is long'

/** A page at a host name, where passkeys are possible: they take less time than passwords. */
export const createNamedPage = (url: string): OwnPage =>
  createOwnPage(url, { host: `localhost:${new URL(url).port}` })

/** Makes an account by a link, with a passkey. */
export async function join(page: OwnPage, link: string | undefined, more: object = {}): Promise<PageAnswer> {
  await page.call('GET', '/v1/sign-in')
  const register = { purpose: 'register', email: 'any@example.com' }
  const { json: challenge } = await page.call('POST', '/v1/passkey-challenges', register)
  const response = createAuthenticator().register(challenge.options, { origin: page.origin })
  return page.call('POST', '/v1/accounts', { link, passkey: { response }, ...more })
}

/** Makes the operator's account by the setup token. */
export async function setUp(
  { url, server }: { url: string; server: { setupToken: string | undefined } },
  given: Parameters<typeof createOwnPage>[1] = {},
): Promise<OwnPage> {
  const page = createOwnPage(url, given)
  await page.call('GET', '/v1/sign-in')
  const body = { link: server.setupToken, email: 'operator@example.com', name: 'Olga', password }
  const { status, json } = await page.call('POST', '/v1/accounts', body)
  if (status !== 201) throw new Error(`setup: ${JSON.stringify(json)}`)
  return page
}
