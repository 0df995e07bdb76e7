import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Random } from '../../simulation/world/random.ts'

/** How a receiver takes what comes, until somebody changes it. */
export const moods = ['well', 'well', 'flaky', 'failing', 'refusing', 'gone', 'resetting', 'slow'] as const
export type Mood = (typeof moods)[number]

export type MoodyReceiver = {
  url: string
  mood: Mood
  /** The events that it has answered with 200. */
  taken: Set<string>
  close: () => Promise<void>
}

const slowMs = 300
const statuses = {
  well: [200],
  flaky: [200, 500, 503],
  failing: [500],
  refusing: [400],
  gone: [410],
  slow: [200],
}

/** A receiver in this process, on loopback. */
export async function startMoodyReceiver({ pick }: Random): Promise<MoodyReceiver> {
  const server = createServer((request, response) => {
    const { mood, taken } = receiver
    if (mood === 'resetting') return void request.socket.destroy()
    const status = pick(statuses[mood] as [number])
    request.resume().once('end', () => {
      if (status === 200) taken.add(String(request.headers['x-service-event-id']))
      setTimeout(() => response.writeHead(status).end(), mood === 'slow' ? slowMs : 0)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: MoodyReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    mood: 'well',
    taken: new Set(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return receiver
}
