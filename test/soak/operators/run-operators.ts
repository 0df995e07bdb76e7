import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../simulation/world/random.ts'
import { type Annex, type Answered, installSample, type Json, startAnnex } from '../../support/annex.ts'
import { senderPlugin } from '../../support/sender.ts'
import { createTestDatabase } from '../../support/test-database.ts'
import { type MoodyReceiver, startMoodyReceiver } from './moody-receivers.ts'
import { type Ask, createOperations } from './operations.ts'

export type Operated = {
  operations: number
  published: number
  /** What should not have happened, and how often it did. */
  wrongs: Map<string, number>
}

const receiverCount = 4
const publisherCount = 12
const operatorCount = 3
/** For all pending deliveries at the end, including failed ones that are sent again. */
const drainMs = 120_000

/**
 * Several people do at random what can be done with receivers, deliveries and an installation, on any of the hosts, while these
 * deliver to receivers that change how they answer. In the end all are well, and what has failed is sent again.
 *
 * @param given.least operations, however long they take: a machine may be slow
 * @param given.hosts on PostgreSQL, in this process; SQLite has one
 */
export async function runOperators(given: {
  seconds: number
  seed: number
  hosts: number
  least?: number
}): Promise<Operated> {
  const { least = 0 } = given
  await using ends = new AsyncDisposableStack()
  const random = createRandom(given.seed)
  const { between, pick } = random
  const wrongs = new Map<string, number>()
  const onWrong = (what: string) => void wrongs.set(what, (wrongs.get(what) ?? 0) + 1)
  const receivers = (await Promise.all(
    Array.from({ length: receiverCount }, () => startMoodyReceiver(random)),
  )) as [MoodyReceiver, ...MoodyReceiver[]]
  for (const { close } of receivers) ends.defer(close)
  const hosts = await startHosts(given.hosts, ends)
  const [first] = hosts
  const { id: installationId, path: installationPath } = await installSample(first, 'sender')
  const ask: Ask = async (method, path, body) => {
    const answered = await pick(hosts).api(method, path, body)
    if (answered.status >= 500) onWrong(`${method} ${nameOf(path)} was answered ${tell(answered)}`)
    return answered
  }

  let published = 0
  const acknowledged: { eventId: string; receiver: MoodyReceiver }[] = []
  const publish = async (receiver: MoodyReceiver) => {
    const eventId = `evt_${++published}`
    const event = { eventId, eventType: 'told', body: JSON.stringify({ eventId }), hops: 0 }
    const where = { installationId, signedBy: 'installation', url: receiver.url }
    await pick(hosts).server.queueDelivery({ ...where, ...event })
    acknowledged.push({ eventId, receiver })
  }
  await Promise.all(receivers.map(publish))
  const { json } = await first.api('GET', '/v1/receivers')
  const receiverIds = json.items.map(({ id }: Json) => id)
  const operations = createOperations({ ask, random, installationPath, receiverIds, receivers, onWrong })

  const untilMs = performance.now() + given.seconds * 1_000
  let count = 0
  const goOn = async (most: number, act: () => Promise<unknown>) => {
    for (; performance.now() < untilMs || count < least; await sleep(between(0, most))) {
      await act().catch((error) => onWrong(String(error)))
    }
  }
  const operate = () => {
    count += 1
    return operations[pick(Object.keys(operations) as [string])]?.() ?? Promise.resolve()
  }
  await Promise.all([
    ...Array.from({ length: publisherCount }, () => goOn(20, () => publish(pick(receivers)))),
    ...Array.from({ length: operatorCount }, () => goOn(60, operate)),
  ])
  for (const receiver of receivers) receiver.mood = 'well'
  await first.api('POST', `${installationPath}/resume`, {})
  if (!(await drain(first, receiverIds)))
    onWrong(`something is still owed, or has failed, after ${drainMs} ms`)
  for (const { eventId, receiver } of acknowledged) {
    if (!receiver.taken.has(eventId)) onWrong('an event was acknowledged, and its receiver does not have it')
  }
  return { operations: count, published, wrongs }
}

/** @returns those that share a database: more than one only on PostgreSQL */
async function startHosts(count: number, ends: AsyncDisposableStack): Promise<[Annex, ...Annex[]]> {
  const { url, drop } = await createTestDatabase()
  ends.defer(drop)
  const flags = {
    ...{ SECRET_KEY: randomBytes(32).toString('base64'), DELIVERY_RETRY_SECONDS: '1,1,2' },
    ...(url !== '' && { DATABASE_URL: url }),
  }
  const hosts: Annex[] = []
  for (let n = 0; n < (url === '' ? 1 : count); n += 1) {
    const host = await startAnnex({ sandboxes: 'processes', plugins: { sender: senderPlugin }, flags })
    ends.defer(host.close)
    hosts.push(host)
  }
  return hosts as [Annex, ...Annex[]]
}

/** @returns whether all has been delivered */
async function drain({ api }: Annex, receiverIds: readonly string[]): Promise<boolean> {
  const since = new Date(0).toISOString()
  const untilMs = performance.now() + drainMs
  for (; performance.now() < untilMs; await sleep(200)) {
    for (const id of receiverIds) await api('POST', `/v1/receivers/${id}/resume`, {})
    if (await has(api, 'pending')) continue
    if (!(await has(api, 'failed'))) return true
    await api('POST', '/v1/deliveries/send-failed', { since, perSecond: 1_000 })
  }
  return false
}

const has = async (api: Annex['api'], state: string): Promise<boolean> =>
  (await api('GET', `/v1/deliveries?limit=1&state=${state}`)).json.items.length > 0

/** Without what is different each time. */
const nameOf = (path: string): string => path.replace(/_[0-9a-f-]{36}/g, '_…').replace(/\?.*/, '')

const tell = ({ status, json, text }: Answered): string =>
  `${status} ${json?.error?.code ?? text.slice(0, 60)}`
