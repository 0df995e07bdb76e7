import assert from 'node:assert/strict'
import { createHmac, createPublicKey, verify } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { Annex, Json } from '../support/annex.ts'
import { startWithPackages } from './start-with-packages.ts'

const script = `
import { createIntegration } from '@annex/runtime'
import * as jose from 'jose'

const secret = new TextEncoder().encode('a secret of thirty-two bytes, say')
const pairs = { RS256: jose.generateKeyPair('RS256', { extractable: true }), ES256: jose.generateKeyPair('ES256', { extractable: true }) }
const sign = (alg, key) =>
  new jose.SignJWT({ plan: 'pro' }).setProtectedHeader({ alg }).setIssuer('annex').setIssuedAt(1_700_000_000).setExpirationTime('2h').setSubject('ünïcode').sign(key)

export default createIntegration({
  fetch: async (request) => {
    const url = new URL(request.url)
    const alg = url.searchParams.get('alg')
    if (url.pathname.endsWith('/hs256')) return new Response(await sign('HS256', secret))
    if (url.pathname.endsWith('/sign')) {
      const { privateKey, publicKey } = await pairs[alg]
      return Response.json({ jwt: await sign(alg, privateKey), jwk: await jose.exportJWK(publicKey), pem: await jose.exportSPKI(publicKey), thumbprint: await jose.calculateJwkThumbprint(await jose.exportJWK(publicKey)) })
    }
    if (url.pathname.endsWith('/verify')) {
      const { jwt, jwk } = await request.json()
      const key = jwk === undefined ? secret : await jose.importJWK(jwk, alg)
      try {
        const { payload, protectedHeader } = await jose.jwtVerify(jwt, key, { issuer: 'annex', currentDate: new Date(1_700_000_000_000) })
        return Response.json({ payload, protectedHeader })
      } catch (error) {
        return Response.json({ refused: error.code }, { status: 401 })
      }
    }
    if (url.pathname.endsWith('/keys')) {
      // The sandbox fetches the keys of an identity provider: here its own integration, over the network.
      const { jwt, at } = await request.json()
      const { payload } = await jose.jwtVerify(jwt, jose.createRemoteJWKSet(new URL(at)), { currentDate: new Date(1_700_000_000_000) })
      return Response.json(payload)
    }
    if (url.pathname.endsWith('/jwks')) {
      const { publicKey } = await pairs.RS256
      return Response.json({ keys: [{ ...(await jose.exportJWK(publicKey)), alg: 'RS256', use: 'sig' }] })
    }
    // JWE: to a public key, with a password, and directly.
    const { privateKey, publicKey } = await jose.generateKeyPair('RSA-OAEP-256')
    const ec = await jose.generateKeyPair('ECDH-ES+A256KW')
    const text = new TextEncoder().encode('for your eyes')
    const direct = crypto.getRandomValues(new Uint8Array(32))
    const out = []
    for (const [alg, enc, to, from] of [
      ['RSA-OAEP-256', 'A256GCM', publicKey, privateKey],
      ['ECDH-ES+A256KW', 'A128CBC-HS256', ec.publicKey, ec.privateKey],
      ['PBES2-HS256+A128KW', 'A128GCM', secret, secret],
      ['dir', 'A256GCM', direct, direct],
    ]) {
      const sealed = await new jose.CompactEncrypt(text).setProtectedHeader({ alg, enc }).encrypt(to)
      const { plaintext } = await jose.compactDecrypt(sealed, from, { keyManagementAlgorithms: [alg] })
      const broken = sealed.slice(0, -4) + (sealed.endsWith('AAAA') ? 'BBBB' : 'AAAA')
      out.push([alg, new TextDecoder().decode(plaintext), await jose.compactDecrypt(broken, from, { keyManagementAlgorithms: [alg] }).catch((error) => error.code)])
    }
    return Response.json(out)
  },
})`

describe('jose in a sandbox', () => {
  let annex: Annex
  let url: string
  before(async () => {
    annex = await startWithPackages({ tokens: { script, packages: ['jose'] } })
    url = `${annex.url}/x/tokens`
  })
  after(() => annex.close())
  const post = async (path: string, body: object): Promise<{ status: number; json: Json }> => {
    const response = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) })
    return { status: response.status, json: await response.json() }
  }
  const payload = { plan: 'pro', iss: 'annex', iat: 1_700_000_000, exp: 1_700_007_200, sub: 'ünïcode' }

  it('signs a JWT with HS256 as Node does, and refuses a changed one', async () => {
    const jwt = await (await fetch(`${url}/hs256`)).text()
    const [header, body, signature] = jwt.split('.')
    const expected = createHmac('sha256', 'a secret of thirty-two bytes, say').update(`${header}.${body}`)
    assert.equal(signature, expected.digest('base64url'))
    const { exp, ...rest } = JSON.parse(Buffer.from(body ?? '', 'base64url').toString())
    assert.deepEqual({ ...rest, exp: payload.exp }, payload)
    assert.ok(exp > Date.now() / 1000 + 7000)
    assert.equal((await post('/verify', { jwt })).json.protectedHeader.alg, 'HS256')
    const changed = [header, Buffer.from('{"plan":"free"}').toString('base64url'), signature].join('.')
    assert.deepEqual(await post('/verify', { jwt: changed }), {
      status: 401,
      json: { refused: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED' },
    })
  })

  for (const alg of ['RS256', 'ES256']) {
    it(`signs with ${alg}, exports the public key as JWK and PEM, and verifies with the JWK`, async () => {
      const { jwt, jwk, pem, thumbprint } = (await (await fetch(`${url}/sign?alg=${alg}`)).json()) as Json
      const [header, body, signature] = jwt.split('.')
      const key = { key: createPublicKey(pem), dsaEncoding: 'ieee-p1363' } as const
      const signed = Buffer.from(`${header}.${body}`)
      assert.ok(verify('sha256', signed, key, Buffer.from(signature, 'base64url')))
      assert.equal(thumbprint.length, 43)
      const { status, json } = await post(`/verify?alg=${alg}`, { jwt, jwk })
      assert.equal(status, 200)
      assert.equal(json.payload.sub, 'ünïcode')
    })
  }

  it('fetches the keys of an identity provider', async () => {
    const { jwt } = (await (await fetch(`${url}/sign?alg=RS256`)).json()) as Json
    const { status, json } = await post('/keys', { jwt, at: `${url}/jwks` })
    assert.equal(status, 200)
    assert.equal(json.plan, 'pro')
  })

  it('encrypts and decrypts JWE for RSA, ECDH, a password and a shared key', async () => {
    assert.deepEqual(await (await fetch(`${url}/jwe`)).json(), [
      ['RSA-OAEP-256', 'for your eyes', 'ERR_JWE_DECRYPTION_FAILED'],
      ['ECDH-ES+A256KW', 'for your eyes', 'ERR_JWE_DECRYPTION_FAILED'],
      ['PBES2-HS256+A128KW', 'for your eyes', 'ERR_JWE_DECRYPTION_FAILED'],
      ['dir', 'for your eyes', 'ERR_JWE_DECRYPTION_FAILED'],
    ])
  })
})
