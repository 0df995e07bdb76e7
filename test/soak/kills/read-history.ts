import { setTimeout as sleep } from 'node:timers/promises'
import type { Json } from '../../support/annex.ts'
import type { Listening } from '../../support/host-process.ts'
import { keyOf } from './arrival.ts'

/** What the host itself says of its deliveries. */
export type History = {
  owed: number
  delivered: number
  failed: number
  /** Deliveries with an attempt that says that it was cut off, and when each of these attempts was begun. */
  interrupted: { keys: Set<string>; begunAtMs: number[] }
}

const pageSize = 100

/** Waits until the API lists no pending work, then reads all deliveries with their attempts. */
export async function readHistory(host: Listening, patienceMs: number): Promise<History> {
  const end = Date.now() + patienceMs
  let owed = (await readPage(host, '&state=pending')).items
  while (owed.length > 0 && Date.now() < end) {
    await sleep(100)
    owed = (await readPage(host, '&state=pending')).items
  }
  const history: History = {
    owed: owed.length,
    delivered: 0,
    failed: 0,
    interrupted: { keys: new Set(), begunAtMs: [] },
  }
  for await (const page of allPages(host)) {
    const details = await Promise.all(page.map(({ id }) => host.api('GET', `/v1/deliveries/${id}`)))
    for (const { json } of details) addTo(history, json)
  }
  return history
}

function addTo(history: History, { state, event, url, attemptList }: Json): void {
  if (state === 'delivered') history.delivered += 1
  if (state === 'failed') history.failed += 1
  const cut = attemptList.filter(({ outcome }: Json) => outcome === 'interrupted')
  history.interrupted.begunAtMs.push(...cut.map(({ startedAt }: Json) => Date.parse(startedAt)))
  if (cut.length > 0) history.interrupted.keys.add(keyOf({ eventId: event.id, path: new URL(url).pathname }))
}

async function readPage(
  { api }: Listening,
  query: string,
): Promise<{ items: Json[]; next?: { page: string } }> {
  const { json, text } = await api('GET', `/v1/deliveries?limit=${pageSize}${query}`)
  if (!Array.isArray(json?.items)) throw new Error(`no list of deliveries: ${text.slice(0, 300)}`)
  return json
}

async function* allPages(host: Listening): AsyncGenerator<Json[]> {
  let query: string | undefined = ''
  while (query !== undefined) {
    const { items, next } = await readPage(host, query)
    yield items
    query = next && `&page=${next.page}`
  }
}
