import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, it, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifyWebhook } from '../../host/webhooks/signature.ts'
import { assertHarmless } from './support/assert-harmless.ts'
import { bin, cleanEnvironment, runAnnex } from './support/run-annex.ts'
import { type Started, startInProcess } from './support/start-in-process.ts'

let served: Started
let receiver: { url: string; status: number; received: { header: string; body: string }[]; close: () => void }

before(async () => {
  receiver = await startReceiver()
  served = await startInProcess()
})
after(async () => {
  await served?.close()
  receiver?.close()
})

async function startReceiver() {
  const received: { header: string; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    received.push({ header: String(request.headers['x-service-signature']), body })
    response.writeHead(state.status, { 'x-evil': 'a\u009bb' }).end('\x1b[2Jhello')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  const state = { url, status: 200, received, close: () => server.close() }
  return state
}

/** Runs a command that must succeed, and parses its JSON. */
async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await served.annex(...args, '--json')
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

type Listed<T> = { items: T[]; count: number }

let secret = ''

test('install installs, sets the settings by their declared types, and shows each secret once', async () => {
  const settings = ['--set', `webhook_url=${receiver.url}`, '--set', 'site_view=true']
  const { code, stdout, stderr } = await served.annex(
    'install',
    'webhook',
    '--yes',
    '--site',
    'sample',
    ...settings,
  )
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^webhook inst_\S+ active\nsite sample active\nendpoint http:\S+\/x\/webhook\/inst_/)
  secret = /signing secret \(site sample\) (\S+)/.exec(stdout)?.[1] ?? ''
  assert.notEqual(secret, '')
  const again = await served.annex('install', 'webhook', '--yes', '--site', 'sample', ...settings)
  assert.equal(again.code, 0, again.stderr)
  assert.doesNotMatch(again.stdout + again.stderr, /secret/)
})

test('publish --follow ends with a delivery that the secret of install verifies', async () => {
  const { code, stdout, stderr } = await served.annex('events', 'publish', 'site_view', '--follow')
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^evt_\S+ site_view\n/)
  assert.match(stdout, /--> site_view evt_\S+ to http:/)
  assert.match(stdout, /<-- 200 http:\S+ \d+ ms, delivered\n$/)
  const { header, body } = receiver.received.at(-1) ?? { header: '', body: '' }
  assert.deepEqual(verifyWebhook(header, body, secret, { nowSeconds: Date.now() / 1000 }), { valid: true })
})

test('publish --follow ends with exit code 1 when a delivery fails', async () => {
  receiver.status = 400
  const { code, stdout } = await served.annex('events', 'publish', 'site_view', '--follow', '--json')
  receiver.status = 200
  assert.equal(code, 1)
  const lines: { kind?: string; eventId?: string }[] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.match(lines[0]?.eventId ?? '', /^evt_/)
  assert.deepEqual(
    lines.slice(1).map(({ kind }) => kind),
    ['pending', 'attempt', 'settled'],
  )
})

test('deliveries lists by state, and show prints requests and answers with escapes', async () => {
  const { items } = await json<Listed<{ id: string }>>('deliveries', '--state', 'failed')
  assert.equal(items.length, 1)
  const { code, stdout } = await served.annex('deliveries', 'show', items[0]?.id ?? '')
  assert.equal(code, 0)
  assert.match(stdout, /attempt 1 .* status 400\n/)
  assert.match(stdout, /> X-Service-Signature: t=\d+,v1=[0-9a-f]{64}\n/i)
  assert.match(stdout, /\\x1b\[2Jhello/)
  assertHarmless(stdout)
})

test('deliveries --follow prints later changes, and no earlier ones', async () => {
  const follower = spawn(process.execPath, [bin, 'deliveries', '--follow', '--json'], {
    cwd: served.dataDir,
    env: { ...cleanEnvironment, DATA_DIR: served.dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(follower, 'exit')
  const kinds = new Map<string, string[]>()
  /** Settles with what was printed of the first event that was followed from its start to its end. */
  const followed = (async () => {
    for await (const line of createInterface({ input: follower.stdout })) {
      const item: { kind: string; delivery: { event: { id: string } } } = JSON.parse(line)
      const { id } = item.delivery.event
      kinds.set(id, [...(kinds.get(id) ?? []), item.kind])
      if (item.kind === 'settled' && kinds.get(id)?.[0] === 'pending') return kinds.get(id)
    }
  })()
  // Only an event that it prints shows that it has connected.
  const published = new Set<string>()
  let ending: string[] | undefined
  while (ending === undefined && follower.exitCode === null) {
    published.add((await json<{ eventId: string }>('events', 'publish', 'site_view')).eventId)
    ending = await Promise.race([followed, sleep(1_000, undefined)])
  }
  assert.deepEqual(ending, ['pending', 'attempt', 'settled'])
  for (const id of kinds.keys()) assert.ok(published.has(id), `${id} was published before`)
  follower.kill('SIGINT')
  assert.deepEqual(await ended, [null, 'SIGINT'])
})

test('an event with a given eventId is stored once', async () => {
  const data = JSON.stringify({ eventId: 'evt_mine', url: 'https://docs.example.com/other' })
  const first = await json<{ eventId: string; duplicate: boolean }>(
    'events',
    'publish',
    'site_view',
    '--data',
    data,
  )
  assert.deepEqual([first.eventId, first.duplicate], ['evt_mine', false])
  const { stdout, stderr, code } = await served.annex('events', 'publish', 'site_view', '--data', data)
  assert.equal(code, 0)
  assert.match(stdout, /^evt_mine site_view\n$/)
  assert.match(stderr, /published before/)
})

test('the host accepts the sample of each event type', async () => {
  for (const type of ['page_feedback', 'space_content_updated']) {
    const { eventId } = await json<{ eventId: string }>('events', 'publish', type)
    assert.match(eventId, /^evt_/)
  }
})

test('configure keeps other settings, and names each wrong one', async () => {
  const { code, stderr } = await served.annex(
    'configure',
    'webhook',
    '--site',
    'sample',
    '--set',
    'page_feedback=true',
  )
  assert.equal(code, 0, stderr)
  type Shown = { sites: { configuration: object }[] }
  const { sites } = await json<Shown>('installations', 'webhook')
  const configuration = { webhook_url: receiver.url, site_view: true, page_feedback: true }
  assert.deepEqual(sites[0]?.configuration, configuration)

  const wrong = await served.annex(
    'configure',
    'webhook',
    '--site',
    'sample',
    '--set',
    'site_view=perhaps',
    '--set',
    'ulr=x',
  )
  assert.equal(wrong.code, 3)
  assert.match(wrong.stderr, /site_view: must be true or false/)
  assert.match(wrong.stderr, /ulr: there is no setting/)
  assert.match(wrong.stderr, /configuration_invalid · request req_/)
  assert.deepEqual((await json<Shown>('installations', 'webhook')).sites[0]?.configuration, configuration)
})

test('an install with wrong settings installs neither the account nor the space', async () => {
  const wrong = ['--set', 'include_headings=perhaps', '--set', 'unti=words']
  const refused = await served.annex('install', 'handbook-stats', '--yes', '--space', 'handbook', ...wrong)
  assert.equal(refused.code, 3)
  assert.equal(refused.stdout, '')
  assert.match(refused.stderr, /include_headings: must be true or false, found "perhaps"/)
  assert.match(refused.stderr, /unti: there is no setting "unti" for the space/)
  const empty = ['--space', 'handbook', '--set', 'webhook_url=']
  const required = await served.annex('install', 'webhook', '--yes', ...empty)
  assert.deepEqual([required.code, required.stdout], [3, ''])
  assert.match(required.stderr, /nothing was changed:\n {2}webhook_url: is required/)
  assert.deepEqual((await json<{ spaces: unknown[] }>('installations', 'webhook')).spaces, [])
  const { items } = await json<Listed<{ integration: string }>>('installations')
  assert.deepEqual(
    items.map(({ integration }) => integration),
    ['webhook'],
  )
})

test('an integration with only optional settings is active after its install', async () => {
  const { code, stdout, stderr } = await served.annex(
    'install',
    'handbook-stats',
    '--yes',
    '--space',
    'handbook',
  )
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^handbook-stats inst_\S+ active\nspace handbook active\n/)
  const shown = await served.annex('installations', 'handbook-stats')
  assert.match(shown.stdout, /connection: not connected/)
  assert.doesNotMatch(shown.stderr, /pending|annex configure/)
})

describe('a setting of another level is refused with the flag that reaches its level', () => {
  const inSpace = ['--space', 'handbook']
  const cases: [string, string[], RegExp][] = [
    ['--set with --space', [...inSpace, '--set', 'unit=words'], /Name unit without --site and --space\.\n/],
    ['--set without --space', ['--set', 'include_headings=false'], /Name include_headings with --space\.\n/],
    ['--unset with --space', [...inSpace, '--unset', 'unit'], /Name unit without --site and --space\.\n/],
    [
      'two settings of another level, a right and a wrong one',
      ['--set', 'include_headings=false', '--set', 'unit=words', '--set', 'nit=x'],
      /is no setting of the account: it belongs to the space\n(?:.*\n)*.*there is no setting "nit" .*\nName include_headings with --space\.\n[^N]/,
    ],
  ]
  for (const [title, args, expected] of cases) {
    it(title, async () => {
      const { code, stdout, stderr } = await served.annex('configure', 'handbook-stats', ...args)
      assert.deepEqual([code, stdout], [3, ''])
      assert.match(stderr, expected)
      assert.equal(stderr.includes('it belongs to'), true, stderr)
    })
  }
  it('install', async () => {
    const args = ['install', 'handbook-stats', '--yes', ...inSpace, '--set', 'unit=words']
    const { code, stderr } = await served.annex(...args)
    assert.equal(code, 3)
    assert.match(stderr, /unit: is no setting of the space: it belongs to the account\nName unit without/)
  })
  it('options and connect', async () => {
    const options = await served.annex('options', 'handbook-stats', 'team', ...inSpace)
    assert.match(options.stderr, /no setting "team" with a completion_url\. It belongs to the account\./)
    const connect = await served.annex('connect', 'handbook-stats', 'connection', ...inSpace)
    assert.match(connect.stderr, /no button "connection"\. It belongs to the account\./)
  })
})

test('an install without its required settings is pending, and shows the command that sets them', async () => {
  const { code, stdout, stderr } = await served.annex('install', 'webhook', '--yes', '--space', 'handbook')
  assert.equal(code, 0, stderr)
  assert.match(stdout, /space handbook pending/)
  assert.match(
    stderr,
    /webhook_url: is required\nnpx annex configure webhook --space handbook --set webhook_url=…/,
  )
  const set = ['--space', 'handbook', '--set', `webhook_url=${receiver.url}`]
  assert.match((await served.annex('configure', 'webhook', ...set)).stdout, /space handbook active/)
  const unset = await served.annex('configure', 'webhook', '--space', 'handbook', '--unset', 'webhook_url')
  assert.match(unset.stdout, /space handbook pending/)
})

test('pause and resume change the status of an installation', async () => {
  assert.match((await served.annex('pause', 'webhook')).stdout, / paused\n$/)
  const again = await served.annex('pause', 'webhook')
  assert.equal(again.code, 1)
  assert.match(again.stderr, /409 conflict/)
  assert.match((await served.annex('resume', 'webhook')).stdout, / active\n$/)
})

test('a command accepts names in any letter case', async () => {
  const one = await json<{ id: string; integration: string }>('installations', 'WEBHOOK', '--org', 'HOME')
  assert.equal(one.integration, 'webhook')
  assert.equal((await json<{ id: string }>('installations', one.id)).id, one.id)
  assert.equal((await json<{ integration: string }>('pause', 'WebHook')).integration, 'webhook')
  assert.equal((await json<{ integration: string }>('resume', 'wEBHOOK')).integration, 'webhook')
  const { receipts } = await json<{ receipts: { integration: string }[] }>('logs', 'WEBHOOK')
  assert.ok(receipts.length > 0 && receipts.every(({ integration }) => integration === 'webhook'))
  const configured = await served.annex('configure', 'WEBHOOK', '--site', 'SAMPLE', '--set', 'site_view=true')
  assert.equal(configured.code, 0, configured.stderr)
  assert.match(configured.stdout, /^webhook /)
})

test('integrations are found by text, category and installed state', async () => {
  const names = async (...args: string[]) =>
    (await json<Listed<{ name: string }>>('integrations', ...args)).items.map(({ name }) => name)
  const installed = await names('--installed')
  assert.ok(installed.includes('webhook'))
  assert.deepEqual(await names('--search', 'WEBHOOK', '--installed'), ['webhook'])
  assert.deepEqual(await names('--search', 'webhook', '--no-installed'), [])
  assert.ok((await names('--no-installed')).every((name) => !installed.includes(name)))
  const wrong = await served.annex('integrations', '--category', 'nope')
  assert.equal(wrong.code, 1)
  assert.match(wrong.stderr, /category/)
})

test('reload prints the state of each plugin folder', async () => {
  const { code, stdout } = await served.annex('reload')
  assert.equal(code, 0)
  assert.match(stdout, /^webhook +loaded +version 1/m)
})

test('logs prints JSON lines or text, and nothing for an unknown request', async () => {
  assert.equal((await json<Listed<object>>('logs', 'req_none')).count, 0)
  const { receipts } = await json<{ receipts: { integration: string }[] }>('logs', 'webhook')
  assert.deepEqual([...new Set(receipts.map(({ integration }) => integration))], ['webhook'])
})

for (const [args, expected] of [
  [['logs', 'nope'], /There is no integration nope /],
  [['logs', 'nope', '--follow'], /There is no integration nope /],
  [['logs', 'inst_nope'], /There is no installation "inst_nope" .* `npx annex installations` shows/],
  [['deliveries', '--follow', '--receiver', 'nope'], /There is no receiver nope /],
  [['deliveries', 'list', '--installation', 'webhook'], /There is no installation "webhook" /],
  [['deliveries', 'send-failed', '--since', '1h', '--receiver', 'nope'], /There is no receiver nope /],
  [['receivers', '--installation', 'nope'], /There is no installation "nope" /],
  [['jobs', '--installation', 'nope'], /There is no installation "nope" /],
] as const) {
  test(`annex ${args.join(' ')} names the missing record instead of printing an empty list`, {
    timeout: 60_000,
  }, async () => {
    const { url, dataDir } = served
    const token = readFileSync(join(dataDir, 'cli.token'), 'utf8').trim()
    const ended = await runAnnex([...args], { env: { ANNEX_URL: url, ANNEX_TOKEN: token } })
    assert.equal(ended.code, 1, ended.stderr)
    assert.equal(ended.stdout, '')
    assert.match(ended.stderr, expected)
  })
}
