import { jwtVerify, SignJWT } from 'jose'
import { createLru } from '../cache.ts'
import type { Caller } from './tokens.ts'

export type ScriptCaller = Extract<Caller, { kind: 'integration' | 'installation' }>

/** Short-lived tokens for scripts. They are signed and not stored, so a dispatch writes nothing to the database. */
export type ScriptTokens = {
  issue: (caller: ScriptCaller) => Promise<string>
  /** @returns undefined for a token with a wrong signature, and for an expired one */
  verify: (token: string) => Promise<ScriptCaller | undefined>
}

const lifetimeSeconds = 60 * 60
/** Most dispatches get a cached token: signing one takes longer than a lookup. */
const reuseMs = 20 * 60 * 1000
const maxCached = 10_000
const options = { algorithms: ['HS256'] }

export function createScriptTokens(key: Uint8Array): ScriptTokens {
  // Tokens expire by the wall clock, which a suspended machine jumps forward.
  const cached = createLru<string>(maxCached, { ttl: reuseMs, ttlResolution: 0, perf: Date })
  // Imported once: jose imports bytes for each token.
  const imported = crypto.subtle.importKey(
    'raw',
    new Uint8Array(key),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign', 'verify'],
  )
  return {
    async issue(caller) {
      const id = JSON.stringify(caller)
      const found = cached.get(id)
      if (found !== undefined) return found
      const token = await new SignJWT({ caller })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuedAt()
        .setExpirationTime(`${lifetimeSeconds}s`)
        .sign(await imported)
      cached.set(id, token)
      return token
    },
    async verify(token) {
      try {
        const { payload } = await jwtVerify<{ caller: ScriptCaller }>(token, await imported, options)
        return payload.caller
      } catch {
        return undefined
      }
    },
  }
}
