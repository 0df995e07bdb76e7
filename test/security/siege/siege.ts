import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Json, startAnnex, until } from '../../support/annex.ts'
import { behindFuse, lightFuses } from '../../support/fuse.ts'
import { isTorture } from '../../support/torture.ts'

/**
 * Attacks on a real Annex, each an integration of its own, so that none is judged for what another did. `script` is
 * the body of its `fetch`, which may use `ms(n)` to wait; with `atLoad` it runs while the script is loaded.
 * `ends` is the code or the text that the attack ends with; `A or B` where V8 or the machine decides.
 * With `again` it is repeated until a limit stops it.
 */
export type Attack = { name: string; script: string; ends: string; again?: boolean; atLoad?: boolean }

/** The machine has not let the script begin, or come to its end: these answers say to try again, and nothing of the attack. */
const machine: ReadonlySet<string | undefined> = new Set(['sandbox_busy', 'machine_busy'])

/** What a neighbour got: `failed` holds the answers that were not 200. `slowestMs` has the wait for a machine, too. */
type Watched = { count: number; failed: string[]; slowestMs: number }

const publisher = 'elsewhere'
/**
 * CPU time is what a script has used, so it ends an attack alike on each machine. The wall clock does not: on a busy machine it
 * would end attacks that use up CPU time or memory. So it stands far above them, and below for attacks that only wait.
 */
type Limits = { cpuMs: number; wallMs: number }
export const forCpu: Limits = { cpuMs: 250, wallMs: 120_000 }
export const forMemory: Limits = { cpuMs: 250, wallMs: 10_000 }
export const forWaiting: Limits = { cpuMs: 5_000, wallMs: 5_000 }
/** The longest that an attack takes beyond its limit: the watchdog's patience, and a machine that is busy. */
const patienceMs = 10_000
/** A neighbour waits for the attack, or for the process that takes its place; on a busy machine longer. */
const neighbourMs = 20_000

const honest = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('fine') })`

/** The attack repeats what it does, whatever it throws. */
const repeated = (script: string): string =>
  `for (;;) { try { await (async () => { ${script} })() } catch {} }`

const scriptOf = ({ script, again, atLoad }: Attack): string => `
import { createIntegration } from '@annex/runtime'
const ms = (time) => new Promise((resolve) => setTimeout(resolve, time))
${atLoad ? behindFuse(script) : ''}
const attack: any = async (request: any) => { ${atLoad ? '' : again ? repeated(script) : script} }
export default createIntegration({
  fetch: async (request) => {
    const result: any = await attack(request)
    return result instanceof Response ? result : new Response(String(result ?? 'survived'))
  },
})`

/**
 * Runs each attack while two neighbours are asked again and again, and states what all three saw. The suite runs one
 * attack of five.
 */
export function describeSiege(title: string, limits: Limits, all: Attack[]): void {
  const attacks = isTorture ? all : all.filter((_attack, index) => index % 5 === 0)
  describe(title, () => {
    let annex: Annex
    const dataDir = mkdtempSync(join(tmpdir(), 'annex-siege-'))
    before(async () => {
      annex = await start(dataDir, limits, attacks)
    })
    after(async () => {
      await annex.close()
      rmSync(dataDir, { recursive: true, force: true })
    })

    for (const attack of attacks) {
      it(`${attack.name}: ${attack.ends}`, async () => {
        const first = await strike(annex, attack)
        // A late answer may come from a busy machine. An attack makes answers late a second time, the machine does not.
        const late = lateOf(first, limits) && lateOf(await strike(annex, attack), limits)
        assert.equal(late, undefined)
        assert.equal((await fetch(`${annex.url}/healthz`)).status, 200)
      })
    }
  })
}

type Struck = { tookMs: number; beside: Watched; apart: Watched }

/** Runs an attack, and fails unless it ends as it must and the neighbours get what they ask for, however late. */
async function strike(annex: Annex, { name, ends }: Attack): Promise<Struck> {
  let started = performance.now()
  const attack = ask(`${annex.url}/x/${slug(name)}`, () => {
    started = performance.now()
  })
  const [response, beside, apart] = await Promise.all([
    attack,
    watch(`${annex.url}/x/beside`, attack),
    watch(`${annex.url}/x/apart`, attack),
  ])
  const text = await response.text().catch(() => brokenOff(annex, response))
  const tookMs = performance.now() - started
  const end = codeOf(text) ?? text.slice(0, 100)
  assert.ok(ends.split(' or ').includes(end), `${response.status} ${text.slice(0, 300)}`)
  assert.doesNotMatch(text, /node_modules|\.ts:|file:|isolated-vm/, 'nothing of the machine is shown')
  const failed = beside.failed.filter((text) => codeOf(text.slice(4)) !== 'sandbox_died')
  assert.deepEqual(failed, [], `a neighbour in the same process, ${beside.count} requests`)
  assert.deepEqual(apart.failed, [], `a neighbour in another process, ${apart.count} requests`)
  return { tookMs, beside, apart }
}

/**
 * Names a neighbour that waited for too long, or whose process had to be ended: on a busy machine a process may have no
 * time to stop its script, so the host ends it, and its running requests get a 502. Undefined if all were answered in time.
 */
function lateOf({ tookMs, beside, apart }: Struck, limits: Limits): string | undefined {
  const [ended] = beside.failed
  if (ended !== undefined) return `the process was ended, and a neighbour in it got ${ended}`
  if (tookMs >= limits.wallMs + patienceMs) return `the attack took ${tookMs} ms`
  if (beside.slowestMs >= neighbourMs) return `a neighbour in the same process waited ${beside.slowestMs} ms`
  if (apart.slowestMs >= neighbourMs) return `a neighbour in another process waited ${apart.slowestMs} ms`
  return undefined
}

async function start(dataDir: string, { cpuMs, wallMs }: Limits, attacks: Attack[]): Promise<Annex> {
  // An organization that is not the operator's: its scripts have processes of their own.
  const plugins = Object.fromEntries(
    attacks.map((attack) => [slug(attack.name), { script: scriptOf(attack) }]),
  )
  const first = await startAnnex({ sandboxes: 'processes', dataDir, plugins })
  await first.api('POST', '/v1/orgs', { subdomain: publisher, title: publisher })
  await first.close()
  lightFuses(dataDir)
  const annex = await startAnnex({
    sandboxes: 'processes',
    dataDir,
    plugins: {
      ...plugins,
      beside: { script: honest },
      apart: { organization: publisher, script: honest },
    },
    flags: {
      SANDBOX_SPARE: 'true',
      SANDBOX_CPU_MS: `${cpuMs}`,
      SANDBOX_WALL_MS: `${wallMs}`,
      SANDBOX_BODY_BYTES: '10485760',
      SANDBOX_RESIDENT_MB: '512',
      SANDBOX_HEAP_MB: '64',
    },
  })
  for (const name of ['beside', 'apart']) await (await fetch(`${annex.url}/x/${name}`)).text()
  return annex
}

/** Asks until the machine has let the script run: `Retry-After` says that it is worth it. */
async function ask(url: string, onBegin = () => {}): Promise<Response> {
  for (;;) {
    onBegin()
    const response = await fetch(url)
    if (response.headers.get('retry-after') === null || response.status !== 503) return response
    const text = await response.text()
    if (!machine.has(codeOf(text))) throw new Error(`${url}: ${text}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Asks a neighbour again and again until the attack is over, and then once more. */
async function watch(url: string, over: Promise<unknown>): Promise<Watched> {
  let isOver = false
  const end = () => {
    isOver = true
  }
  over.then(end, end)
  const seen: Watched = { count: 0, failed: [], slowestMs: 0 }
  for (let isLast = false; !isLast; ) {
    isLast = isOver
    const started = performance.now()
    const response = await ask(url)
    const text = await response.text()
    seen.count += 1
    if (response.status !== 200) seen.failed.push(`${response.status} ${text}`)
    seen.slowestMs = Math.max(seen.slowestMs, performance.now() - started)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return seen
}

/** An answer that had begun can only be broken off: the integration's log says by which setting's limit. */
async function brokenOff(annex: Annex, response: Response): Promise<string> {
  const lines = await until(
    () => annex.api('GET', `/v1/logs?request=${response.headers.get('x-request-id')}`),
    ({ json }) => json.items.some(({ text }: Json) => text.startsWith('The answer was broken off. ')),
  )
  const texts: string[] = lines.json.items.map(({ text }: Json) => text)
  if (texts.some((text) => text.includes('The machine is too busy'))) return 'machine_busy'
  return texts.map((text) => /\d+ \w+.* \((SANDBOX_\w+)\)/.exec(text)?.[1]).find(Boolean) ?? ''
}

function codeOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as Json).error.code
  } catch {
    return undefined
  }
}

const slug = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
