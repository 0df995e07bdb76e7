import type { Context } from 'koa'
import { hashOf } from '../access/tokens.ts'
import { flowMs } from '../accounts/openid-flow.ts'
import { ownAddressOf } from './own-address.ts'
import { parseCookies } from './session-cookie.ts'

/** Lax: a browser sends it with the redirect of the provider. The session's cookie is strict, and stays behind. */
const shared = 'Path=/; HttpOnly; SameSite=Lax; Priority=High'

/**
 * The cookie of one flow at the OpenID provider. Its name has the hash of the state: flows of several tabs do not end each other. It
 * begins as each cookie of Annex does, so that no script of an endpoint sees it.
 */
export type OpenidCookie = {
  set: (context: Context, state: string, sealed: string) => void
  /** Reads the cookie, and ends it: also for a callback that fails. */
  take: (context: Context, state: string) => string | undefined
}

export function createOpenidCookie(publicUrl: string): OpenidCookie {
  const partsOf = (context: Context, state: string) => {
    const { isHttps } = ownAddressOf(context.req, publicUrl)
    const name = `annex-openid_${hashOf(state).slice(0, 16)}`
    return isHttps
      ? { name: `__Host-${name}`, flags: `${shared}; Secure` }
      : // Safari drops secure cookies over HTTP, also on this machine.
        { name, flags: shared }
  }
  return {
    set(context, state, sealed) {
      const { name, flags } = partsOf(context, state)
      context.append('set-cookie', `${name}=${sealed}; Max-Age=${flowMs / 1000}; ${flags}`)
    },
    take(context, state) {
      const { name, flags } = partsOf(context, state)
      const [sealed] = parseCookies(context.req.headers.cookie).get(name) ?? []
      if (sealed !== undefined) context.append('set-cookie', `${name}=; Max-Age=0; ${flags}`)
      return sealed
    },
  }
}
