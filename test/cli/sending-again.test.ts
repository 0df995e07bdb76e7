import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startReceiver } from '../support/receiver.ts'
import { type Started, startInProcess } from './support/start-in-process.ts'

let served: Started
let receiver: Awaited<ReturnType<typeof startReceiver>>
let receiverId = ''

before(async () => {
  receiver = await startReceiver(400, 400, 200)
  served = await startInProcess()
  const settings = ['--set', `webhook_url=${receiver.url}`, '--set', 'site_view=true']
  const installed = await served.annex('install', 'webhook', '--yes', '--site', 'sample', ...settings)
  assert.equal(installed.code, 0, installed.stderr)
  for (let n = 0; n < 2; n += 1) {
    assert.equal((await served.annex('events', 'publish', 'site_view', '--follow')).code, 1)
  }
})
after(async () => {
  await served?.close()
  await receiver?.close()
})

async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await served.annex(...args, '--json')
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

test('annex receivers lists, pauses with a reason, shows and resumes a receiver', async () => {
  const { items } = await json<{ items: { id: string; url: string; state: string }[] }>('receivers')
  assert.deepEqual([items.length, items[0]?.url, items[0]?.state], [1, receiver.url, 'active'])
  receiverId = items[0]?.id ?? ''
  const paused = await served.annex('receivers', 'pause', receiverId, '--reason', 'moving')
  assert.match(paused.stdout, /^rcv_\S+ paused moving\nurl {10}http:/)
  assert.match((await served.annex('receivers', 'list', '--state', 'paused')).stdout, /^rcv_\S+ +paused/m)
  assert.match((await served.annex('receivers', 'show', receiverId)).stdout, /^pending {6}0 due, 0 waiting$/m)
  assert.match((await served.annex('receivers', 'resume', receiverId)).stdout, /^rcv_\S+ active\n/)
  const again = await served.annex('receivers', 'resume', receiverId)
  assert.equal(again.code, 1)
  assert.match(again.stderr, /is active already/)
})

test('annex receivers order turns ordered delivery on and off', async () => {
  assert.match((await served.annex('receivers', 'order', receiverId)).stdout, /one delivery at a time/)
  const off = await served.annex('receivers', 'order', receiverId, '--off')
  assert.doesNotMatch(off.stdout, /one delivery at a time/)
})

test('send-failed counts the deliveries and sends none without --yes or a terminal', async () => {
  const asked = await served.annex('deliveries', 'send-failed', '--since', '1h')
  assert.equal(asked.code, 2)
  assert.match(asked.stderr, /^2 deliveries failed since 2\d{3}-/)
  assert.match(asked.stderr, /--yes sends them/)
  const dry = await json<{ count: number }>('deliveries', 'send-failed', '--since', '1h', '--dry-run')
  assert.equal(dry.count, 2)
  assert.equal(receiver.received.length, 2)
  assert.equal((await served.annex('deliveries', 'send-failed', '--since', 'lunch')).code, 2)
})

test('send-failed --yes sends all failed deliveries again', async () => {
  const sent = await served.annex(
    'deliveries',
    'send-failed',
    '--since',
    '1h',
    '--receiver',
    receiverId,
    '--yes',
  )
  assert.equal(sent.code, 0, sent.stderr)
  assert.equal(sent.stdout, '2 deliveries sent again, over 1 s.\n')
  assert.match(sent.stderr, /npx annex deliveries --state pending/)
  await receiver.waitFor(4)
  const none = await served.annex('deliveries', 'send-failed', '--since', '1h', '--yes')
  assert.deepEqual([none.code, none.stdout], [0, ''])
  assert.match(none.stderr, /^0 deliveries failed/)
})

test('deliveries send repeats one delivery; receivers example sends an example event', async () => {
  const { items } = await json<{ items: { id: string }[] }>(
    'deliveries',
    '--receiver',
    receiverId,
    '--after',
    '1h',
  )
  const { code, stdout, stderr } = await served.annex('deliveries', 'send', items[0]?.id ?? '')
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^dlv_\S+ pending to http:/)
  const example = await served.annex('receivers', 'example', receiverId, '--type', 'page_feedback')
  assert.match(example.stdout, /^dlv_\S+ pending to http:/)
  const all = await receiver.waitFor(6)
  assert.ok(all.some(({ body }) => JSON.parse(body).example === true))
})
