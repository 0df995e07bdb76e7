import type { Context } from 'koa'
import type { Settings } from '../config/load-settings.ts'
import { hopsHeader } from '../egress/loop-guard.ts'

/** Who may read `/metrics`, and the detail at `/`, without an operator's token. */
export type MetricsAccess = { readers: Settings['METRICS_ACCESS']; isBehindProxy: boolean }

export const mayReadMetrics = (context: Context, { readers, isBehindProxy }: MetricsAccess): boolean =>
  readers === 'anyone' || (readers === 'loopback' && !isBehindProxy && isFromHere(context))

/** What a proxy says of whom it speaks for. Some say nothing: hence the rule about PUBLIC_URL. */
const proxyHeaders = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
]

const loopbackAddress = /^(?:127\.|::1$|::ffff:127\.)/
/** By a name of its own, a web page could make a browser of this machine ask (DNS rebinding). */
const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

/** A request of a person on this machine: past no proxy, of no script, and not by a foreign web page. */
function isFromHere({ req }: Context): boolean {
  const { headers, socket } = req
  return (
    loopbackAddress.test(socket.remoteAddress ?? '') &&
    loopbackHost.test(headers.host ?? '') &&
    headers[hopsHeader] === undefined &&
    headers.origin === undefined &&
    proxyHeaders.every((name) => headers[name] === undefined)
  )
}
