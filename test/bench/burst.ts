// One event to each of many installations of one plugin, none of which is loaded, beside a visitor of another publisher.
import { setTimeout as sleep } from 'node:timers/promises'
import { openSecretBox } from '../../host/access/open-secret-box.ts'
import { createSigningSecret } from '../../host/access/secret-box.ts'
import { createTerminal, printTable } from '../../host/cli/terminal.ts'
import { createId } from '../../host/db/ids.ts'
import { openDatabase } from '../../host/db/open-database.ts'
import { createPublicKey } from '../../host/db/queries/places.ts'
import { sealJson, useSealer } from '../../host/db/sealed-json.ts'
import { createClient } from '../../schemas/client.ts'
import { startBusyLoops } from '../support/busy-loops.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { startReceiver } from './deliveries/start-receiver.ts'
import { ask } from './measure/ask.ts'
import { sumUsed } from './measure/cpu-time.ts'
import { quantile } from './measure/quantile.ts'
import { readOptions } from './measure/read-options.ts'
import { describeMachine, printGoals } from './report.ts'
import { createFolders, startAnnex } from './servers/start-annex.ts'

const { installations, loops } = readOptions({
  installations: { type: 'string', default: '1000' },
  loops: { type: 'string', default: '0' },
})
const count = Number(installations)
const busyLoops = Number(loops)
const publishesAtOnce = 16
const visitEveryMs = 20
const rowsAtOnce = 50
/** Per installation: 20 ms, and five times as long beside foreign loops. */
const aimMs = count * 20 * (busyLoops === 0 ? 1 : 5)

const burst = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  events: {
    site_view: async (event, { environment, integration }) => {
      await integration.queueDelivery({ url: environment.siteInstallation.configuration.webhook_url, event })
    },
  },
})`
const settings = `configurations:
  site:
    properties:
      webhook_url: { type: string, title: Receiver, description: Where events go }`
const answer = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: () => new Response('here') })`

const terminal = createTerminal(process)
await using ends = new AsyncDisposableStack()
const receiver = await startReceiver(1)
ends.defer(receiver.close)
const folders = createFolders()
ends.defer(async () => folders.remove())
await (await startAnnex(folders)).close()
const organizations = await seedOrganizations()
writePlugin(folders.pluginsDir, 'burst', {
  ...{ organization: 'publisher-a', scopes: ['site:views:read'], script: burst, more: settings },
})
writePlugin(folders.pluginsDir, 'visited', { organization: 'publisher-b', script: answer })
await (await startAnnex(folders)).close()
const seeded = await seedInstallations()
const annex = await startAnnex(folders, {
  ...{ RATE_LIMIT_TOKEN: '0', RATE_LIMIT_VISITOR: '0', EGRESS_ALLOW: '127.0.0.1' },
})
ends.defer(annex.close)
const visited = `${annex.origin}${seeded.visited}`
for (let n = 0; n < 50; n += 1) await ask(visited)

ends.use(await startBusyLoops(busyLoops))
const visits: number[] = []
let failedVisits = 0
let peakBytes = 0
let isOver = false
const visiting = visit()
const sampling = setInterval(() => {
  peakBytes = Math.max(peakBytes, sumUsed([annex.pid, ...(annex.behind?.() ?? [])]).residentBytes)
}, 200)
const usedBefore = sumUsed([annex.pid, ...(annex.behind?.() ?? [])]).cpuMs

const startedAt = performance.now()
const arrived = receiver.call('expect', { count, withinMs: 20 * aimMs + 60_000 })
arrived.catch(() => {})
await publishAll()
const publishedMs = performance.now() - startedAt
await arrived
const drainedMs = performance.now() - startedAt
isOver = true
clearInterval(sampling)
await visiting
const used = sumUsed([annex.pid, ...(annex.behind?.() ?? [])])
const outcomes = await readOutcomes()

terminal.say(describeMachine().text)
terminal.say(
  `${count} installations of one plugin, one event to each, beside ${busyLoops} foreign busy loops`,
)
printTable(
  terminal,
  ['', ''],
  [
    ['published after', `${(publishedMs / 1000).toFixed(1)} s`],
    ['delivered after', `${(drainedMs / 1000).toFixed(1)} s`],
    ['CPU time of host and sandboxes', `${((used.cpuMs - usedBefore) / 1000).toFixed(1)} s`],
    ['memory, peak', `${(peakBytes / 1024 ** 2).toFixed(0)} MB`],
    ['visits', `${visits.length}, ${failedVisits} failed`],
    ['a visitor, p50', `${quantile(visits, 0.5).toFixed(1)} ms`],
    ...outcomes.map(([outcome, times]) => [`dispatches that ended as ${outcome}`, String(times)]),
  ],
)
const lost = outcomes.filter(([outcome]) => outcome !== 'ok').reduce((sum, [, times]) => sum + times, 0)
printGoals(terminal, [
  { name: 'delivered after', value: drainedMs / 1000, unit: 's', atMost: aimMs / 1000 },
  { name: 'dispatches lost to the machine or to memory', value: lost, atMost: 0 },
  ...(busyLoops === 0
    ? [{ name: 'a visitor of another publisher, p99', value: quantile(visits, 0.99), unit: 'ms', atMost: 50 }]
    : []),
])

async function visit(): Promise<void> {
  while (!isOver) {
    try {
      visits.push(await ask(visited))
    } catch {
      failedVisits += 1
    }
    await sleep(visitEveryMs)
  }
}

async function publishAll(): Promise<void> {
  const api = createClient({ url: annex.origin, token: annex.token })
  const waiting = seeded.sites.values()
  const publish = async () => {
    for (const { organizationId, siteId } of waiting) {
      const visitor = { anonymousId: 'a', userAgent: 'bench', ip: '203.0.113.7', cookies: {} }
      await api.call('POST /v1/events', {
        query: { organization: organizationId },
        body: { type: 'site_view', siteId, url: 'https://docs.example.com/', visitor },
      })
    }
  }
  await Promise.all(Array.from({ length: publishesAtOnce }, publish))
}

async function seedOrganizations(): Promise<{ id: string }[]> {
  const { db, close } = await openDatabase('', folders.dataDir)
  const names = ['publisher-a', 'publisher-b', ...Array.from({ length: count }, (_none, n) => `burst-${n}`)]
  const createdAt = Date.now()
  const rows = names.map((subdomain) => ({ id: createId('org'), subdomain, title: subdomain, createdAt }))
  await db.batchInsert('organizations', rows, rowsAtOnce)
  await close()
  return rows
}

/** By the database: each installation by the API would be set up at once, and with that be loaded. */
async function seedInstallations() {
  const { db, close } = await openDatabase('', folders.dataDir)
  const box = await openSecretBox(db, '', folders.dataDir)
  useSealer([db], box)
  const createdAt = Date.now()
  const common = { status: 'active', externalIds: '[]', createdAt, updatedAt: createdAt }
  const signingSecret = box.seal(createSigningSecret())
  const configuration = sealJson(db, { webhook_url: receiver.urls[0] })
  const [, publisherB, ...owners] = organizations
  const sites = owners.map(({ id: organizationId }) => ({
    ...{ id: createId('site'), organizationId, slug: 'docs', title: 'Docs', createdAt },
    publicKey: createPublicKey(),
  }))
  const toInstallation = (organizationId: string, integration: string) => ({
    ...{ id: createId('inst'), integration, organizationId, createdAt },
  })
  const installed = sites.map(({ organizationId }) => toInstallation(organizationId, 'burst'))
  const visited = toInstallation(publisherB?.id ?? '', 'visited')
  await db.batchInsert('sites', sites, rowsAtOnce)
  await db.batchInsert('installations', [...installed, visited], rowsAtOnce)
  const accounts = [...installed, visited].map(({ id: installationId }) => ({
    ...common,
    ...{ installationId, kind: 'account', placeId: '', signingSecret, configuration: '{}' },
  }))
  const places = installed.map(({ id: installationId }, n) => ({
    ...common,
    ...{ installationId, kind: 'site', placeId: sites[n]?.id ?? '', signingSecret, configuration },
  }))
  await db.batchInsert('levels', [...accounts, ...places], rowsAtOnce)
  await close()
  return {
    sites: sites.map(({ id: siteId, organizationId }) => ({ siteId, organizationId })),
    visited: `/x/visited/${visited.id}`,
  }
}

/** From the counts of the integration's dispatches that /metrics has. */
async function readOutcomes(): Promise<[string, number][]> {
  const headers = { authorization: `Bearer ${annex.token}` }
  const text = await (await fetch(`${annex.origin}/metrics`, { headers })).text()
  const counts = new Map<string, number>()
  for (const line of text.split('\n')) {
    if (!line.startsWith('annex_dispatches_total{') || !line.includes('integration="burst"')) continue
    const [, outcome, times] = /outcome="([^"]+)".*\} (\d+)/.exec(line) ?? []
    if (outcome !== undefined) counts.set(outcome, (counts.get(outcome) ?? 0) + Number(times))
  }
  return [...counts]
}
