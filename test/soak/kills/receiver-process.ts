// A process of its own: it outlives the hosts that are killed, and what it has noted is what really arrived.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Arrival } from './arrival.ts'

const [seed = '0', slowest = '25'] = process.argv.slice(2)
/** Of a hundred deliveries, so many are refused once, and so many twice: fewer than the schedule has attempts. */
const refusedOnce = 8
const refusedTwice = 3
const slowestMs = Number(slowest)
const reportMs = 10

const counts = new Map<string, number>()
let unsaid: Arrival[] = []

/** The same for the same delivery in each run of a seed, whatever order they come in. */
function chanceOf(key: string): number {
  return createHash('sha256').update(`${seed} ${key}`).digest().readUInt32BE(0)
}

function refusalsOf(chance: number): number {
  const percent = chance % 100
  if (percent < refusedTwice) return 2
  return percent < refusedTwice + refusedOnce ? 1 : 0
}

const server = createServer((request, response) => {
  const eventId = String(request.headers['x-service-event-id'])
  const path = String(request.url)
  const key = `${eventId} ${path}`
  request.resume().once('end', () => {
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    const chance = chanceOf(key)
    const status = count <= refusalsOf(chance) ? 503 : 200
    unsaid.push({ eventId, path, status, atMs: Date.now() })
    // Slow enough that some are always in flight.
    setTimeout(() => response.writeHead(status).end('{}'), (chance >>> 8) % slowestMs)
  })
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
setInterval(() => {
  if (unsaid.length > 0) process.send?.({ arrivals: unsaid })
  unsaid = []
}, reportMs)
process.once('disconnect', () => process.exit())
