import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApi } from '../../host/cli/api/create-api.ts'
import { descendantsOf, sumUsed } from '../bench/measure/cpu-time.ts'
import { quantile } from '../bench/measure/quantile.ts'
import { type BenchedAnnex, createFolders, startAnnex } from '../bench/servers/start-annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { type HonestAnswer, startHonestLoad } from './honest-load.ts'
import { createRandom, startHostileLoad } from './hostile-load.ts'
import { honestNames, soakPlugins } from './plugins.ts'
import { type SoakReceiver, startSoakReceiver } from './receiver.ts'

export type Phase = {
  name: string
  requests: number
  died: number
  failed: number
  p50Ms: number
  p99Ms: number
}

export type SoakResult = {
  seconds: number
  seed: number
  /** Before the hostile load began, and with it. */
  phases: Phase[]
  /** Why honest requests failed, and how often. */
  failures: Map<string, number>
  attacks: number
  outcomes: Map<string, number>
  processesEnded: number
  events: { published: number; delivered: number }
  memory: { hostStartMb: number; hostEndMb: number; hostPeakMb: number; sandboxesPeakMb: number }
}

export type Note = (text: string) => void

/** A slow honest answer is told as it comes, with the attacks of the moment. */
const slowMs = 250

/**
 * Runs one Annex with hostile and honest installations side by side, some of them in the same group. Calm first, so
 * that what the machine itself does to the honest ones can be seen; then the storm.
 */
export async function runSoak(given: { seconds: number; seed: number; note: Note }): Promise<SoakResult> {
  const { seconds, seed, note } = given
  await using ends = new AsyncDisposableStack()
  const receiver = await startSoakReceiver()
  ends.defer(() => receiver.close())
  const folders = createFolders()
  ends.defer(() => folders.remove())
  for (const [name, source] of Object.entries(soakPlugins(receiver.url))) {
    writePlugin(folders.pluginsDir, name, source)
  }
  const annex = await startAnnex(folders, { EGRESS_ALLOW: '127.0.0.1' })
  ends.defer(annex.close)
  const endpoints = await install(annex)

  const honest = startHonestLoad(endpoints)
  ends.defer(honest.stop)
  const watch = watchProcesses(annex)
  ends.defer(async () => watch.stop())
  const events = publishEvents(annex)
  ends.defer(events.stop)

  // The first second compiles, on every side.
  await sleep(1_000)
  honest.answers.length = 0
  await sleep(Math.max(3, seconds / 10) * 1000)
  const memoryAtStart = watch.hostMb()
  note(`calm is over; seed ${seed}`)

  const stormAtMs = performance.now()
  const hostile = startHostileLoad({ url: annex.origin, random: createRandom(seed) })
  ends.defer(hostile.stop)
  let told = honest.answers.length
  const teller = setInterval(() => {
    const at = Math.round((performance.now() - stormAtMs) / 1000)
    tell(`${at} s`, honest.answers.slice(told), hostile.running, note)
    told = honest.answers.length
  }, 1000)
  ends.defer(async () => clearInterval(teller))

  await sleep(seconds * 1000)
  await hostile.stop()
  // What is owed comes in the calm after.
  await events.stop()
  await waitForDeliveries(events.published, receiver)
  await honest.stop()
  const inStorm = honest.answers.filter(({ atMs }) => atMs >= stormAtMs)
  const result = {
    seconds,
    seed,
    phases: [
      toPhase(
        'calm',
        honest.answers.filter(({ atMs }) => atMs < stormAtMs),
      ),
      toPhase(
        'storm, operator’s own',
        inStorm.filter(({ name }) => isOwn(name)),
      ),
      toPhase(
        'storm, among the hostile',
        inStorm.filter(({ name }) => !isOwn(name)),
      ),
    ],
    failures: await explainFailures(annex, honest.answers),
    attacks: hostile.begun(),
    outcomes: hostile.outcomes,
    processesEnded: watch.ended(),
    events: {
      published: events.published.size,
      delivered: [...events.published].filter((id) => receiver.delivered.has(id)).length,
    },
    memory: {
      hostStartMb: memoryAtStart,
      hostEndMb: watch.hostMb(),
      hostPeakMb: watch.hostPeakMb(),
      sandboxesPeakMb: watch.sandboxesPeakMb(),
    },
  }
  return result
}

const isOwn = (name: string): boolean => honestNames.indexOf(name) < 2

/** The strangers, their plugins, and an installation of each honest one that takes events. */
async function install(annex: BenchedAnnex): Promise<{ name: string; url: string }[]> {
  const api = createApi({ url: annex.origin, token: annex.token })
  await api.post('/v1/orgs', { subdomain: 'strangers', title: 'Strangers' })
  await api.post('/v1/reload', {})
  const endpoints: { name: string; url: string }[] = []
  for (const name of honestNames) {
    const installed = await annex.install(name)
    endpoints.push({ name, url: installed.urls.publicEndpoint }, { name, url: `${annex.origin}/x/${name}` })
    const { site } = annex.samples
    await api.post(`/v1/integrations/${name}/installations/${installed.id}/sites`, { site })
  }
  return endpoints
}

/** Two events a second, for every honest installation. */
function publishEvents(annex: BenchedAnnex): { published: Set<string>; stop: () => Promise<void> } {
  const api = createApi({ url: annex.origin, token: annex.token })
  const published = new Set<string>()
  const visitor = { anonymousId: 'v1', userAgent: 'soak', ip: '203.0.113.7', cookies: {} }
  const running = new Set<Promise<void>>()
  const timer = setInterval(() => {
    const eventId = `evt_${randomUUID()}`
    const event = {
      type: 'site_view',
      eventId,
      siteId: annex.samples.site,
      visitor,
      url: 'https://docs.example/',
    }
    const publishing = api
      .post(`/v1/events?organization=${annex.organization}`, { ...event, referrer: '' })
      .then(() => {
        published.add(eventId)
        running.delete(publishing)
      })
    running.add(publishing)
  }, 500)
  return {
    published,
    async stop() {
      clearInterval(timer)
      await Promise.all(running)
    },
  }
}

async function waitForDeliveries(published: Set<string>, { delivered }: SoakReceiver): Promise<void> {
  const end = Date.now() + 30_000
  while (Date.now() < end && [...published].some((id) => !delivered.has(id))) await sleep(200)
}

/** Samples memory, and counts the processes that are gone. */
function watchProcesses(annex: BenchedAnnex) {
  const seen = new Set<number>()
  let alive: number[] = []
  let hostPeak = 0
  let sandboxesPeak = 0
  const readHost = () => sumUsed([annex.pid]).residentBytes / 1024 ** 2
  const timer = setInterval(() => {
    alive = descendantsOf(annex.pid)
    for (const pid of alive) seen.add(pid)
    hostPeak = Math.max(hostPeak, readHost())
    sandboxesPeak = Math.max(sandboxesPeak, sumUsed(alive).residentBytes / 1024 ** 2)
  }, 50)
  return {
    hostMb: readHost,
    hostPeakMb: () => hostPeak,
    sandboxesPeakMb: () => sandboxesPeak,
    ended: () => seen.size - alive.length,
    stop: () => clearInterval(timer),
  }
}

/** A line for each second in which an honest request failed or was slow, with the attacks of the moment. */
function tell(at: string, answers: HonestAnswer[], running: ReadonlySet<string>, note: Note): void {
  const slow = answers.filter(({ ms, kind }) => kind === 'ok' && ms > slowMs)
  const died = answers.filter(({ kind }) => kind === 'died')
  const failed = answers.filter((answer) => answer.kind === 'failed')
  if (slow.length + died.length + failed.length === 0) return
  const slowest = Math.round(Math.max(0, ...slow.map(({ ms }) => ms)))
  const names = [...new Set([...slow, ...died, ...failed].map(({ name }) => name))].join(' ')
  const [first] = failed
  note(
    `${at}: ${answers.length} answers: ${slow.length} slow (${slowest} ms), ${died.length} died, ${failed.length} failed (${names})` +
      (first === undefined ? '' : ` first: ${first.name} ${first.why}`) +
      `; attacks: ${[...running].join(', ')}`,
  )
}

function toPhase(name: string, answers: HonestAnswer[]): Phase {
  const times = answers.map(({ ms }) => ms)
  return {
    name,
    requests: answers.length,
    died: answers.filter(({ kind }) => kind === 'died').length,
    failed: answers.filter(({ kind }) => kind === 'failed').length,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
  }
}

/** Each kind of failure with what the log says of the first one, and how often it came. */
async function explainFailures(annex: BenchedAnnex, answers: HonestAnswer[]): Promise<Map<string, number>> {
  const kinds = Map.groupBy(
    answers.filter((answer) => answer.kind === 'failed'),
    ({ name, why }) => `${name}: ${why}`,
  )
  const failures = new Map<string, number>()
  for (const [kind, failed] of kinds) {
    const logs = await createApi({ url: annex.origin, token: annex.token })
      .get<{ items: { text: string }[] }>(`/v1/logs?request=${failed[0]?.requestId}`)
      .catch(() => ({ items: [] }))
    failures.set(`${kind} (${logs.items[0]?.text.slice(0, 300) ?? 'nothing in the log'})`, failed.length)
  }
  return failures
}
