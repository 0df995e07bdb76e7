import { jwtVerify, SignJWT } from 'jose'
import type { Caller } from './tokens.ts'

export type ScriptCaller = Extract<Caller, { kind: 'integration' | 'installation' }>

/** Short-lived tokens for scripts. They are signed and not stored: a dispatch writes nothing to the database. */
export type ScriptTokens = {
  issue: (caller: ScriptCaller) => Promise<string>
  /** @returns undefined when it is none of ours, or has expired */
  verify: (token: string) => Promise<ScriptCaller | undefined>
}

const lifetimeSeconds = 60 * 60
/** A token is handed out again for this long, so that signing one is no part of each dispatch. */
const reuseMs = 20 * 60 * 1000
const maxKept = 10_000

export function createScriptTokens(key: Uint8Array): ScriptTokens {
  const kept = new Map<string, { token: string; untilMs: number }>()
  return {
    async issue(caller) {
      const id = JSON.stringify(caller)
      const found = kept.get(id)
      if (found !== undefined && found.untilMs > Date.now()) return found.token
      const token = await new SignJWT({ caller })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuedAt()
        .setExpirationTime(`${lifetimeSeconds}s`)
        .sign(key)
      if (kept.size >= maxKept) kept.clear()
      kept.set(id, { token, untilMs: Date.now() + reuseMs })
      return token
    },
    async verify(token) {
      try {
        const { payload } = await jwtVerify<{ caller: ScriptCaller }>(token, key, { algorithms: ['HS256'] })
        return payload.caller
      } catch {
        return undefined
      }
    },
  }
}
