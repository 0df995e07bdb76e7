import type { Context } from 'koa'
import { AnnexError } from '../errors.ts'
import { type OwnAddress, ownAddressOf } from './own-address.ts'

/** Chromium forgets cookies without this priority first, and no script of an endpoint may set it: `endpoint-headers.ts`. */
const shared = 'Path=/; HttpOnly; SameSite=Strict; Priority=High'

type Names = { secure: string; plain: string; probe: string }

const namesAt = ({ cookieSuffix }: OwnAddress): Names => ({
  secure: `__Host-annex_session${cookieSuffix}`,
  plain: `annex_session${cookieSuffix}`,
  probe: `__Host-annex_probe${cookieSuffix}`,
})

/** Reads, sets and removes the cookie of a session. */
export type SessionCookie = {
  /** @throws AnnexError `unauthorized` when there are two: another port of the host has set one */
  read: (context: Context) => string | undefined
  set: (context: Context, secret: string, maxAgeMs: number) => void
  remove: (context: Context) => void
  /** On this machine asks the browser whether it sends secure cookies back over HTTP. Safari does not. */
  probe: (context: Context) => void
}

/** @param publicUrl empty without PUBLIC_URL */
export function createSessionCookie(publicUrl: string): SessionCookie {
  return {
    read(context) {
      const address = ownAddressOf(context.req, publicUrl)
      const { secure, plain } = namesAt(address)
      const sent = parseCookies(context.req.headers.cookie)
      const [found] = address.isHttps || address.isLoopback ? (sent.get(secure) ?? []) : []
      if (found !== undefined || address.isHttps) return found
      const [only, ...others] = new Set(sent.get(plain))
      if (others.length === 0) return only
      throw new AnnexError(
        'unauthorized',
        `The browser sends two cookies ${plain}. Another program at ${address.hostname} may have set one: delete both, and sign in.`,
      )
    },
    set(context, secret, maxAgeMs) {
      const address = ownAddressOf(context.req, publicUrl)
      const names = namesAt(address)
      const sent = parseCookies(context.req.headers.cookie)
      const isSecure =
        address.isHttps || (address.isLoopback && (sent.has(names.probe) || sent.has(names.secure)))
      const maxAge = `Max-Age=${Math.floor(maxAgeMs / 1000)}`
      const [name, flags] = isSecure ? [names.secure, `${shared}; Secure`] : [names.plain, shared]
      context.append('set-cookie', `${name}=${secret}; ${maxAge}; ${flags}`)
      if (isSecure && sent.has(names.plain))
        context.append('set-cookie', `${names.plain}=; Max-Age=0; ${shared}`)
    },
    remove(context) {
      const { secure, plain } = namesAt(ownAddressOf(context.req, publicUrl))
      context.append('set-cookie', `${secure}=; Max-Age=0; ${shared}; Secure`)
      context.append('set-cookie', `${plain}=; Max-Age=0; ${shared}`)
    },
    probe(context) {
      const address = ownAddressOf(context.req, publicUrl)
      if (address.isHttps || !address.isLoopback) return
      context.append('set-cookie', `${namesAt(address).probe}=1; ${shared}; Secure`)
    },
  }
}

/** The values of each name, in the order in which they were sent. */
export function parseCookies(header = ''): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const pair of header.split(';')) {
    const [, name = '', value = ''] = /^\s*([^=]+)=(.*?)\s*$/.exec(pair) ?? []
    found.set(name, [...(found.get(name) ?? []), value])
  }
  return found
}
