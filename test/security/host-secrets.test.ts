import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createSecretBox } from '../../host/access/secret-box.ts'
import { type Annex, installSample, type Json, startAnnex } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'

/** Gives back every text that it can get at: what hangs on the global object, its environment, what errors say. */
const prober = `
import { createIntegration } from '@annex/runtime'
globalThis.kept = []
async function errors(context) {
  const tries = [
    () => fetch('http://127.0.0.1:4444/'), () => fetch('http://localhost:1/'), () => fetch('nonsense://x'),
    () => fetch('http://[::1]:1/', { method: 'NOPE' }), () => context.api.request({ path: '/orgs' }),
    () => context.api.request({ path: '/integrations/victim' }), () => context.api.request({ path: '/../../data' }),
    () => context.integration.queueDelivery({ url: 'x', event: {} }), () => context.integration.queueTask({ task: 1 }),
    () => context.integration.queueTask({ task: {}, schedule: -1 }), () => crypto.subtle.importKey('raw', 1, 2, 3, 4),
    () => new URL('x'), () => null.x, () => structuredClone(() => {}), () => (function deep() { deep() })(),
  ]
  const texts = []
  for (const attempt of tries) {
    try { texts.push(JSON.stringify(await attempt())) } catch (error) {
      for (let at = error; at; at = at.cause) texts.push(String(at), String(at?.stack), JSON.stringify(at))
    }
  }
  return texts
}
function walk(start) {
  const texts = new Set(), seen = new Set(), queue = [start]
  while (queue.length > 0 && seen.size < 100_000) {
    const value = queue.pop()
    if (typeof value === 'string') texts.add(value)
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) continue
    seen.add(value)
    if (typeof value === 'function') texts.add(Function.prototype.toString.call(value))
    try { queue.push(Object.getPrototypeOf(value)) } catch {}
    let keys = []
    try { keys = Reflect.ownKeys(value) } catch {}
    for (const key of keys) {
      queue.push(String(key))
      try { const { get, set } = Object.getOwnPropertyDescriptor(value, key); queue.push(get, set) } catch {}
      try { queue.push(value[key]) } catch (error) { queue.push(error, error?.stack) }
    }
    if (value instanceof Map || value instanceof Set) try { queue.push(...value) } catch {}
  }
  return { texts: [...texts], objects: seen.size }
}
export default createIntegration({ fetch: async (request, context) => {
  kept.push(context.environment)
  const { texts, objects } = walk([globalThis, context, request, await errors(context)])
  return Response.json({ texts, objects })
} })`

const victim = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async (request, { environment }) => Response.json(environment) })`

const named = (variable: string) => `secrets:\n  API_KEY: \${{ env.${variable} }}`

describe('a secret of the host', () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-test-'))
  const key = randomBytes(32)
  const random = (): string => randomBytes(18).toString('base64url')
  const own = random()
  const hidden: Record<string, string | Buffer> = {
    'SECRET_KEY as a text': key.toString('base64'),
    'SECRET_KEY as bytes': key,
    'the key that signs tokens': Buffer.from(createSecretBox(key).deriveKey('script tokens')),
    'the key that signs hops': Buffer.from(createSecretBox(key).deriveKey('hops')),
    'the address of the database': `database-${random()}`,
    'a variable of the host': random(),
    'a secret of another integration': random(),
  }
  let annex: Annex
  let pid = 0
  let endpoint = ''
  before(async () => {
    process.env.SOME_VARIABLE = String(hidden['a variable of the host'])
    process.env.VICTIM_KEY = String(hidden['a secret of another integration'])
    process.env.PLUGIN_PROBER__KEY = own
    const pluginsDir = join(folder, 'plugins')
    writePlugin(pluginsDir, 'victim', { script: victim, more: named('VICTIM_KEY') })
    annex = await startAnnex({
      sandboxes: 'processes',
      pluginsDir,
      flags: {
        SECRET_KEY: key.toString('base64'),
        DATABASE_URL: `sqlite:${join(folder, String(hidden['the address of the database']))}`,
      },
    })
    const others = await installSample(annex, 'victim', 'site')
    const whole: Json = await (await fetch(`${annex.url}/x/victim`)).json()
    hidden['the signing secret of another installation'] = others.secret
    hidden['the signing secret of another integration'] = whole.signingSecrets.integration
    hidden['a token of another integration'] = whole.apiTokens.integration
    hidden['the token of the command line'] = readFileSync(join(annex.dataDir, 'cli.token'), 'utf8').trim()
    await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })
    const token = await annex.api('POST', '/v1/orgs/acme/tokens', {})
    hidden['the token of an organization'] = token.json.token
    writePlugin(pluginsDir, 'prober', {
      script: prober,
      organization: 'acme',
      more: named('PLUGIN_PROBER__KEY'),
    })
    await annex.api('POST', '/v1/reload')
    endpoint = (await installSample(annex, 'prober')).endpoint
    // More than once: the second time the isolate holds what the first one kept.
    await (await fetch(endpoint)).text()
    pid = annex.server.sandboxes.processes().find(({ slot }) => slot.startsWith('third-party'))?.pid ?? 0
  })
  after(async () => {
    await annex.close()
    for (const name of ['SOME_VARIABLE', 'VICTIM_KEY', 'PLUGIN_PROBER__KEY']) delete process.env[name]
    rmSync(folder, { recursive: true, force: true })
  })

  it('exists in this test, as do eleven others', () => {
    assert.equal(Object.keys(hidden).length, 12)
    for (const [name, value] of Object.entries(hidden)) assert.ok(value?.length >= 18, name)
    assert.notEqual(pid, 0)
  })

  it('is out of reach for a script that searches every object', async () => {
    const { texts, objects }: Json = await (await fetch(endpoint)).json()
    assert.ok(objects > 1_000, `${objects}`)
    const all = texts.join('\n')
    assert.ok(all.includes(own), 'its own secret is there')
    for (const [name, value] of Object.entries(hidden)) {
      for (const form of [value.toString(), value.toString('base64'), value.toString('hex')]) {
        assert.ok(!all.includes(form), name)
      }
    }
    assert.doesNotMatch(all, /annex\.sqlite|secret\.key|cli\.token|\/host\/[a-z]+\//)
  })

  it('is missing in the environment, the arguments and the open files of the sandbox process', () => {
    assert.equal(readFileSync(`/proc/${pid}/environ`, 'utf8'), '')
    const seen = [readFileSync(`/proc/${pid}/cmdline`, 'latin1')]
    for (const fd of readdirSync(`/proc/${pid}/fd`)) {
      const target = readlinkSync(`/proc/${pid}/fd/${fd}`)
      seen.push(target)
      assert.match(target, /^(\/dev\/|socket:|pipe:|anon_inode:|\/.*annex-\w+\/black-box|\/memfd:)/, target)
    }
    for (const [name, value] of Object.entries(hidden)) {
      assert.ok(!seen.join('\n').includes(value.toString()), name)
    }
  })

  it('is missing in the memory of the sandbox process', async (t) => {
    const memory = readMemory(pid)
    if (memory === undefined) return t.skip('the system does not let this user read it')
    const found = new Set<string>()
    const needles = Object.entries(hidden).flatMap(([name, value]) =>
      toNeedles(value).map((needle): [string, Buffer] => [name, needle]),
    )
    let ownFound = false
    for (const part of memory) {
      if (toNeedles(own).some((needle) => part.includes(needle))) ownFound = true
      for (const [name, needle] of needles) if (part.includes(needle)) found.add(name)
    }
    assert.ok(ownFound, 'the script’s own secret is there: the right memory was read')
    assert.deepEqual([...found], [])
  })
})

/** One and two bytes a character, as V8 keeps strings. */
const toNeedles = (value: string | Buffer): Buffer[] =>
  typeof value === 'string' ? [Buffer.from(value, 'latin1'), Buffer.from(value, 'utf16le')] : [value]

/** What a process can write to, in pieces. @returns undefined where that cannot be read */
function readMemory(pid: number): Iterable<Buffer> | undefined {
  try {
    const fd = openSync(`/proc/${pid}/mem`, 'r')
    return readRegions(fd, readFileSync(`/proc/${pid}/maps`, 'utf8'))
  } catch {
    return undefined
  }
}

function* readRegions(fd: number, maps: string): Generator<Buffer> {
  const pieceBytes = 1024 * 1024
  const overlap = 1024
  const buffer = Buffer.alloc(pieceBytes)
  const empty = Buffer.alloc(pieceBytes)
  for (const [, from = '', to = ''] of maps.matchAll(/^([0-9a-f]+)-([0-9a-f]+) rw/gm)) {
    const [start, end] = [Number.parseInt(from, 16), Number.parseInt(to, 16)]
    for (let at = start; at < end; at += pieceBytes - overlap) {
      const piece = buffer.subarray(0, readAt(fd, buffer, Math.min(pieceBytes, end - at), at))
      if (!piece.equals(empty.subarray(0, piece.length))) yield piece
    }
  }
  closeSync(fd)
}

function readAt(fd: number, buffer: Buffer, length: number, at: number): number {
  try {
    return readSync(fd, buffer, 0, length, at)
  } catch {
    // A region that is only reserved.
    return 0
  }
}
