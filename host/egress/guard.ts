import { AsyncLocalStorage } from 'node:async_hooks'
import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { AnnexError } from '../errors/annex-error.ts'
import type { AllowList } from './allow-list.ts'
import { rangeOf } from './public-address.ts'

/**
 * All addresses of a host name. Rejects with `ENOTFOUND` or `EAI_AGAIN`, as `dns.promises.lookup` does.
 *
 * @param asker on whose behalf, an organization's
 */
export type Resolve = (hostname: string, asker?: string) => Promise<LookupAddress[]>

/** In the options of a connection. */
export type Asked = { asker?: string | undefined }

/** undici's connectors take their `lookup` once, for whoever will connect. */
const asking = new AsyncLocalStorage<string | undefined>()

type Policy = {
  allow: AllowList
  resolve: Resolve
  /** Whether an origin is Annex's own. */
  isOwn: (origin: string) => boolean
}

const connectTimeoutMs = 10_000

/**
 * The connect step of an undici Agent. Name resolution is part of it, so there is no time between check and
 * connection in which a name could change its address (DNS rebinding): the addresses that were checked are the
 * ones that the socket is given. TLS server name and Host stay the name.
 */
export function createGuardedConnect(policy: Policy): buildConnector.connector {
  const { allow, resolve, isOwn } = policy
  const open = buildConnector({ timeout: connectTimeoutMs, lookup: toLookup(resolve) })
  const guarded = buildConnector({
    timeout: connectTimeoutMs,
    lookup: toLookup((hostname, asker) => resolveChecked(hostname, allow, () => resolve(hostname, asker))),
  })
  return (options: buildConnector.Options & Asked, callback) => {
    const { hostname, protocol, host, asker } = options
    const isOpen = isOwn(`${protocol}//${host}`) || allow.hasName(hostname)
    // A socket asks `lookup` for names only, so an address is checked here.
    if (isOpen || isIP(hostname) === 0 || allow.permits(hostname)) {
      return asking.run(asker, () => (isOpen ? open : guarded)(options, callback))
    }
    process.nextTick(callback, refusedAddress(hostname), null)
  }
}

/**
 * Resolves a name, and refuses it when any of its addresses is out of reach: which of them the socket will take
 * is not known, and a mixed answer is a known attack.
 *
 * @throws AnnexError `egress_refused`. The text does not say which address: the names of an inner network are
 *   not a script's business.
 */
export async function resolveChecked(
  hostname: string,
  allow: AllowList,
  resolve: Resolve,
): Promise<LookupAddress[]> {
  const addresses = await resolve(hostname)
  if (addresses.every(({ address }) => allow.permits(address))) return addresses
  throw new AnnexError(
    'egress_refused',
    `The name ${hostname} resolves to a private address, which requests from here may not reach. ` +
      `The operator can allow it: EGRESS_ALLOW=${hostname}`,
  )
}

function refusedAddress(address: string): AnnexError {
  return new AnnexError(
    'egress_refused',
    `The address ${address} is not public (${rangeOf(address)}), and requests from here may not reach it. ` +
      `The operator can allow it: EGRESS_ALLOW=${address}`,
  )
}

function toLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, asking.getStore()).then(
      (addresses) => {
        const [first] = addresses
        if (first === undefined) callback(noAddress(hostname), [])
        else if (options.all) callback(null, addresses)
        else callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    )
  }
}

const noAddress = (hostname: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' })
