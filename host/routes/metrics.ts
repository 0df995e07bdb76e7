import type Router from '@koa/router'
import type { Context } from 'koa'
import { readOwed } from '../db/queries/operating/owed.ts'
import { assertOperator } from '../http/caller.ts'
import { hopsHeader } from '../net/request/loop-guard.ts'
import type { RouteParts } from './parts.ts'

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

/** Counting what is owed takes the database's time. */
const owedForMs = 1_000

/** For Prometheus. Who may read it is a setting; an operator's token always may. */
export function addMetricsRoutes(router: Router, parts: RouteParts): void {
  const readOwedOnce = atMostOnce(owedForMs, () => readOwed(parts.longReader))

  router.get('/metrics', async (context) => {
    const { metrics, metricsAccess, sandboxes, wall } = parts
    const isOpen =
      metricsAccess.readers === 'anyone' ||
      (metricsAccess.readers === 'loopback' && !metricsAccess.isBehindProxy && isFromHere(context))
    if (!isOpen) assertOperator(await parts.authenticate(context))
    context.type = metrics.contentType
    const owed = { ...(await readOwedOnce()), circuitsOpen: parts.circuits.openCircuits() }
    context.body = await metrics.text({ processes: sandboxes.processes(), levels: wall.levels, owed })
  })
}

/** A request of somebody on this machine, in person: past no proxy, of no script, and not by a foreign web page. */
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

/** However many ask, it is read once in `ms`, and they share it. */
function atMostOnce<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined
  let readAt = 0
  return () => {
    const now = performance.now()
    if (reading === undefined || now - readAt > ms) {
      readAt = now
      reading = read().catch((error) => {
        reading = undefined
        throw error
      })
    }
    return reading
  }
}
