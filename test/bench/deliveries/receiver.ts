// Takes deliveries on loopback, one port for each receiver, in a process of its own: started by start-receiver.ts.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerCalls, nowMs, readGiven } from './child-calls.ts'

/** How a receiver answers: after so long with that status, or never. */
export type Behaviour = { status?: number; delayMs?: number } | 'never'

/** One delivery, when it came first. `atMs` is when the request's first bytes had come. */
export type Arrival = { deliveryId: string; eventId: string; receiver: number; atMs: number }
export type Arrived = { firstMs: number; lastMs: number }
export type Expected = { count: number; receivers?: number[]; withinMs?: number }

export type ReceiverMethods = {
  urls: (none: undefined) => Promise<string[]>
  behave: (given: { receivers: number[]; behaviour: Behaviour }) => void
  /** Forgets what has come. */
  reset: (none: undefined) => void
  /** Settles when so many deliveries have come, at these receivers: all of them unless said otherwise. */
  expect: (given: Expected) => Promise<Arrived>
  arrivals: (none: undefined) => Arrival[]
  /** Of all since the last reset; `lastMs` is when the last one came, be it for the first time or again. */
  counts: (none: undefined) => { distinct: number; duplicates: number; lastMs: number }
}

const { receivers: count } = readGiven<{ receivers: number }>()
const behaviours: Behaviour[] = Array.from({ length: count }, () => ({}))
let arrivals = new Map<string, Arrival>()
let duplicates = 0
let lastMs = 0
let expected = { left: 0, receivers: new Set<number>(), resolve: (_: Arrived) => {}, firstMs: 0 }

const servers = behaviours.map((_none, receiver) => {
  const server = createServer((request, response) => {
    const deliveryId = String(request.headers['x-service-delivery-id'])
    const eventId = String(request.headers['x-service-event-id'])
    note({ deliveryId, eventId, receiver, atMs: nowMs() })
    request.once('end', () => answer(response, behaviours[receiver] ?? {})).resume()
  })
  // A sender's pool keeps its connections from round to round.
  server.keepAliveTimeout = 120_000
  server.listen(0, '127.0.0.1')
  return server
})

function note(arrival: Arrival): void {
  lastMs = arrival.atMs
  if (arrivals.has(arrival.deliveryId)) {
    duplicates++
    return
  }
  arrivals.set(arrival.deliveryId, arrival)
  if (!expected.receivers.has(arrival.receiver)) return
  expected.firstMs ||= arrival.atMs
  expected.left--
  if (expected.left === 0) expected.resolve({ firstMs: expected.firstMs, lastMs: arrival.atMs })
}

function answer(response: ServerResponse, behaviour: Behaviour): void {
  if (behaviour === 'never') return
  const { status = 200, delayMs = 0 } = behaviour
  const end = () => response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  if (delayMs === 0) end()
  else setTimeout(end, delayMs)
}

const methods: ReceiverMethods = {
  async urls() {
    await Promise.all(servers.map((server) => server.listening || once(server)))
    return servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`)
  },
  behave({ receivers, behaviour }) {
    for (const receiver of receivers) behaviours[receiver] = behaviour
  },
  reset() {
    arrivals = new Map()
    duplicates = 0
  },
  expect({ count: left, receivers = [...behaviours.keys()], withinMs = 120_000 }) {
    const { promise, resolve, reject } = Promise.withResolvers<Arrived>()
    expected = { left, receivers: new Set(receivers), resolve, firstMs: 0 }
    const timer = setTimeout(() => {
      reject(new Error(`${left - expected.left} of ${left} deliveries came within ${withinMs} ms`))
    }, withinMs)
    return promise.finally(() => clearTimeout(timer))
  },
  arrivals: () => [...arrivals.values()],
  counts: () => ({ distinct: arrivals.size, duplicates, lastMs }),
}

answerCalls(methods, async () => {})

function once(server: (typeof servers)[number]): Promise<void> {
  return new Promise((resolve) => server.once('listening', () => resolve()))
}
