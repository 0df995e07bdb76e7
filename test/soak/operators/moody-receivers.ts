import type { Random } from '../../simulation/world/random.ts'
import { startReceiver } from '../../support/receiver.ts'

/** How a receiver answers, until its mood changes. */
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

export async function startMoodyReceiver({ pick }: Random): Promise<MoodyReceiver> {
  const { url, close } = await startReceiver((response) => {
    const { mood, taken } = receiver
    if (mood === 'resetting') return void response.destroy()
    const status = pick(statuses[mood] as [number])
    if (status === 200) taken.add(String(response.req.headers['x-service-event-id']))
    setTimeout(() => response.writeHead(status).end(), mood === 'slow' ? slowMs : 0)
  })
  const receiver: MoodyReceiver = { url, mood: 'well', taken: new Set(), close }
  return receiver
}
