import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

type Shape = {
  /** Changes the claims of the next ID token. `undefined` removes one. */
  claims: object
  /** Signs with a key that the issuer does not publish. */
  otherKey: boolean
  /** Added to the redirect, in the place of its own parameters. */
  redirect: Record<string, string>
  /** Answers of `userinfo`. Undefined: there is none. */
  userinfo: object | undefined
  metadata: object
  isDown: boolean
}

export type OpenidIssuer = {
  url: string
  /** Whose next answers are so. */
  shape: Shape
  asked: string[]
  /** What a browser gets that opens the address of a flow: the address that leads back to Annex. */
  signIn: (flowUrl: string) => string
  close: () => void
}

/** An OpenID issuer that answers whatever a test wants, over real HTTP: a certified one refuses to lie. */
export async function startOpenidIssuer(): Promise<OpenidIssuer> {
  const own = await generateKeyPair('RS256')
  const other = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'own', alg: 'RS256', use: 'sig' }
  const nonces = new Map<string, string>()
  const asked: string[] = []
  const shape: Shape = {
    ...{ claims: {}, otherKey: false, redirect: {}, userinfo: undefined, metadata: {}, isDown: false },
  }
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    let body = ''
    for await (const chunk of request) body += chunk
    const send = (answer: object, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    }
    if (shape.isDown) return request.socket.destroy()
    if (path === '/.well-known/openid-configuration') return send(metadata())
    if (path === '/jwks') return send({ keys: [jwk] })
    if (path === '/userinfo') return send(shape.userinfo ?? {})
    const code = new URLSearchParams(body).get('code') ?? ''
    const nonce = nonces.get(code)
    if (!nonces.delete(code)) return send({ error: 'invalid_grant' }, 400)
    send({ access_token: 'access', token_type: 'Bearer', id_token: await idToken(nonce) })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, shape, asked, signIn, close: () => server.close() }

  function metadata(): object {
    return {
      ...{ issuer: url, authorization_endpoint: `${url}/auth`, token_endpoint: `${url}/token` },
      ...{ jwks_uri: `${url}/jwks`, id_token_signing_alg_values_supported: ['RS256'] },
      ...{ response_types_supported: ['code'], subject_types_supported: ['public'] },
      authorization_response_iss_parameter_supported: true,
      ...(shape.userinfo && { userinfo_endpoint: `${url}/userinfo` }),
      ...shape.metadata,
    }
  }

  function signIn(flowUrl: string): string {
    const { searchParams } = new URL(flowUrl)
    const code = crypto.randomUUID()
    nonces.set(code, searchParams.get('nonce') ?? '')
    const back = new URL(searchParams.get('redirect_uri') ?? '')
    const given = { code, state: searchParams.get('state') ?? '', iss: url, ...shape.redirect }
    for (const [name, value] of Object.entries(given)) if (value !== '') back.searchParams.set(name, value)
    return back.href
  }

  function idToken(nonce: string | undefined): Promise<string> {
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      ...{ iss: url, aud: 'annex', sub: 'ada', iat: now, exp: now + 60, nonce },
      ...shape.claims,
    } as JWTPayload
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: 'own' })
      .sign((shape.otherKey ? other : own).privateKey)
  }
}
