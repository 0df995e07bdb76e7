// What a flood of refused requests (429) costs its neighbours: their times beside the flood, over their times alone.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Pool } from 'undici'
import { createTerminal, printTable } from '../../host/cli/terminal.ts'
import { createClient } from '../../schemas/client.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { sumUsed } from './measure/cpu-time.ts'
import { median, quantile } from './measure/quantile.ts'
import { readOptions } from './measure/read-options.ts'
import type { Refused, RefusedLoad } from './measure/refused-load.ts'
import { describeMachine, printGoals } from './report.ts'
import { createFolders, startAnnex } from './servers/start-annex.ts'

const { quick } = readOptions({ quick: { type: 'boolean', default: false } })
const rounds = quick ? 2 : 7
const secondsEach = quick ? 1 : 3
/** Neighbours below their own limits, in turn. */
const neighbours = 40
const pauseMs = 3
const connections = 16
const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: () => new Response('here') })`

const terminal = createTerminal(process)
await using ends = new AsyncDisposableStack()
const folders = createFolders()
ends.defer(async () => folders.remove())
writePlugin(folders.pluginsDir, 'here', { script })
const annex = await startAnnex(folders, { PUBLIC_URL: 'https://annex.example' })
ends.defer(annex.close)
const path = new URL((await annex.install('here')).urls.publicEndpoint).pathname
const api = createClient({ url: annex.origin, token: annex.token })
const tokens: string[] = []
for (let n = 0; n <= neighbours; n += 1) {
  const params = { org: annex.organization }
  tokens.push((await api.call('POST /v1/orgs/{org}/tokens', { params, body: {} })).token)
}
const flooder = tokens.pop()

const asks = {
  'a public endpoint': (n: number) => ({ path, headers: { 'x-forwarded-for': `198.51.100.${n}` } }),
  'the API': (n: number) => ({ path: '/v1/orgs', headers: { authorization: `Bearer ${tokens[n]}` } }),
}
type Name = keyof typeof asks
const names = Object.keys(asks) as Name[]

const ofVisitor = { url: annex.origin + path, headers: { 'x-forwarded-for': '203.0.113.7' } }
const ofToken = { url: `${annex.origin}/v1/orgs`, headers: { authorization: `Bearer ${flooder}` } }
const floods: Record<string, Omit<RefusedLoad, 'connections'> | undefined> = {
  'no flood': undefined,
  'a visitor, 2,000/s': { ...ofVisitor, rate: 2_000 },
  'a token, 2,000/s': { ...ofToken, rate: 2_000 },
  [`a visitor, ${connections} connections`]: { ...ofVisitor, rate: Number.POSITIVE_INFINITY },
  [`a token, ${connections} connections`]: { ...ofToken, rate: Number.POSITIVE_INFINITY },
}

type Round = { p50: Record<Name, number>; p99: Record<Name, number>; perSecond: number; hostUs: number }
const measured: Record<string, Round[]> = {}
const pool = new Pool(annex.origin, { connections: 1, pipelining: 1 })
ends.defer(() => pool.destroy())
for (let round = -1; round < rounds; round += 1) {
  for (const [name, flood] of Object.entries(floods)) {
    const one = await measure(flood)
    if (round >= 0) measured[name] = [...(measured[name] ?? []), one]
  }
}

terminal.say(describeMachine().text)
terminal.say(`${rounds} rounds of ${secondsEach} s in turn, medians; a neighbour asks once in ${pauseMs} ms`)
const alone = measured['no flood'] ?? []
const ratioOf = (rows: Round[], part: 'p50' | 'p99', name: Name) =>
  median(rows.map((row, round) => row[part][name] / (alone[round]?.[part][name] ?? 0)))
printTable(
  terminal,
  [
    'beside',
    'refused/s',
    'host’s CPU µs',
    ...names.flatMap((name) => [`${name}: p50 ms`, 'p99 ms', 'p50 ratio', 'p99 ratio']),
  ],
  Object.entries(measured).map(([flood, rows]) => [
    flood,
    String(Math.round(median(rows.map(({ perSecond }) => perSecond)))),
    flood === 'no flood' ? '' : median(rows.map(({ hostUs }) => hostUs)).toFixed(0),
    ...names.flatMap((name) => [
      median(rows.map(({ p50 }) => p50[name])).toFixed(2),
      median(rows.map(({ p99 }) => p99[name])).toFixed(2),
      ratioOf(rows, 'p50', name).toFixed(2),
      ratioOf(rows, 'p99', name).toFixed(2),
    ]),
  ]),
)
printGoals(
  terminal,
  Object.entries(measured)
    .filter(([flood]) => flood.endsWith('/s'))
    .flatMap(([flood, rows]) =>
      names.map((name) => ({
        name: `p99 of ${name} beside ${flood}, over p99 alone`,
        value: ratioOf(rows, 'p99', name),
        atMost: 1.25,
      })),
    ),
)

async function measure(flood: (typeof floods)[string]): Promise<Round> {
  const load = flood && startLoad({ ...flood, connections })
  // The first requests of the flood are served: it has a limit of its own.
  await sleep(1_000)
  const before = sumUsed([annex.pid]).cpuMs
  const times = await askNeighbours()
  const cpuMs = sumUsed([annex.pid]).cpuMs - before
  const perSecond = (await load?.end()) ?? 0
  return {
    p50: {
      'a public endpoint': quantile(times['a public endpoint'], 0.5),
      'the API': quantile(times['the API'], 0.5),
    },
    p99: {
      'a public endpoint': quantile(times['a public endpoint'], 0.99),
      'the API': quantile(times['the API'], 0.99),
    },
    perSecond,
    hostUs: (cpuMs * 1_000) / (perSecond * secondsEach),
  }
}

async function askNeighbours(): Promise<Record<Name, number[]>> {
  const times: Record<Name, number[]> = { 'a public endpoint': [], 'the API': [] }
  const until = performance.now() + secondsEach * 1_000
  for (let n = 0; performance.now() < until; n = (n + 1) % neighbours) {
    for (const name of names) {
      const startedAt = performance.now()
      const { statusCode, body } = await pool.request({ method: 'GET', ...asks[name](n) })
      await body.dump()
      times[name].push(performance.now() - startedAt)
      if (statusCode !== 200) throw new Error(`${name} answered a neighbour with ${statusCode}.`)
      await sleep(pauseMs)
    }
  }
  return times
}

function startLoad(load: RefusedLoad): { end: () => Promise<number> } {
  const worker = new Worker(new URL('measure/refused-load.ts', import.meta.url), { workerData: load })
  return {
    async end() {
      worker.postMessage('end')
      const [{ seconds, answers }]: [Refused] = (await once(worker, 'message')) as [Refused]
      await worker.terminate()
      return (answers[429] ?? 0) / seconds
    },
  }
}
