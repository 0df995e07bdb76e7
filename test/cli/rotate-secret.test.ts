import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Started, startInProcess } from './support/start-in-process.ts'

let served: Started
let first = ''
before(async () => {
  served = await startInProcess()
  const { code, stdout, stderr } = await served.annex('install', 'webhook', '--yes', '--site', 'sample')
  assert.equal(code, 0, stderr)
  first = /signing secret \(site sample\) (\S+)/.exec(stdout)?.[1] ?? ''
  assert.notEqual(first, '')
})
after(() => served?.close())

const rotate = (...more: string[]) => served.annex('rotate-secret', 'webhook', '--site', 'sample', ...more)

test('rotate-secret shows a new secret, and the time until the old one ends', async () => {
  const { code, stdout, stderr } = await rotate('--overlap', '3600')
  assert.equal(code, 0, stderr)
  const [, secret] =
    /^signing secret \(site sample\) (whsec_\S{32})\nthe old secret signs too, until 20\S+Z\n$/.exec(
      stdout,
    ) ?? []
  assert.ok(secret !== undefined && secret !== first, stdout)
  assert.match(stderr, /only once/)
})

test('rotate-secret refuses a second rotation and names --end and --again', async () => {
  const refused = await rotate()
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /409 conflict/)
  assert.match(refused.stderr, /--end/)
  const again = await rotate('--again', '--first', 'new', '--json')
  assert.equal(again.code, 0, again.stderr)
  assert.match(JSON.parse(again.stdout).signingSecret, /^whsec_/)
})

test('rotate-secret --end finishes a rotation without a new secret', async () => {
  const ended = await rotate('--end')
  assert.deepEqual([ended.code, ended.stdout], [0, 'only the newest secret signs (site sample)\n'])
  assert.equal((await rotate('--overlap', '0')).stdout.split('\n')[1], 'the old secret signs no more')
  const json = await rotate('--end', '--json')
  assert.deepEqual(JSON.parse(json.stdout), { ended: true })
})

test('rotate-secret without a site rotates the secret of the account', async () => {
  const { code, stdout } = await served.annex('rotate-secret', 'webhook')
  assert.equal(code, 0)
  assert.match(stdout, /^signing secret \(account\) whsec_/)
})

test('rotate-secret refuses invalid options with exit code 2', async () => {
  for (const more of [
    ['--overlap', '-1'],
    ['--overlap', '1d'],
    ['--overlap', '2592001'],
    ['--first', 'both'],
    ['--end', '--again'],
    ['--space', 'handbook'],
  ]) {
    assert.equal((await rotate(...more)).code, 2, more.join(' '))
  }
})
