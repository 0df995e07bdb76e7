import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createNamedPage, join } from '../support/own-page.ts'
import { runAnnex } from './support/run-annex.ts'
import { type Started, startInProcess } from './support/start-in-process.ts'

let served: Started
before(async () => {
  served = await startInProcess()
})
after(() => served.close())

const run = async (...args: string[]) => {
  const { code, stdout, stderr } = await served.annex(...args)
  assert.equal(code, 0, stderr)
  return stdout
}

test('members are added, listed, changed and removed', async () => {
  assert.match(
    await run('members', 'add', 'ada@example.com', '--role', 'editor', '--name', 'Ada'),
    /^mem_\S+\n$/,
  )
  assert.match(await run('members'), /editor\s+ada@example\.com\s+Ada/)
  await run('members', 'change', 'ada@example.com', '--role', 'reader')
  assert.match(await run('members', 'list'), /reader\s+ada@example\.com/)
  assert.match(await run('members', 'remove', 'ada@example.com'), /removed, with 0 tokens/)
})

test('a member is invited, and gets in again by a reset link', async () => {
  await run('members', 'add', 'mia@example.com', '--role', 'reader')
  const invited = (await run('members', 'invite', 'mia@example.com')).trim()
  assert.match(invited, /^http:\/\/localhost:\d+\/join#annex_invite_[\w-]+$/)
  const [, link] = invited.split('#')
  const early = await served.annex('members', 'reset', 'mia@example.com')
  assert.equal(early.code, 1)
  assert.match(early.stderr, /No account has the email mia@example\.com.*invitation/)
  assert.equal((await join(createNamedPage(served.url), link)).status, 201)
  assert.match(
    await run('members', 'reset', 'mia@example.com'),
    /^http:\/\/localhost:\d+\/reset#annex_reset_[\w-]+\n$/,
  )
  const again = await served.annex('members', 'invite', 'mia@example.com')
  assert.match(again.stderr, /has an account already/)
})

test('tokens are made, listed without the token, and revoked', async () => {
  const token = (
    await run('tokens', 'new', '--role', 'reader', '--label', 'dashboard', '--expires', '30d')
  ).trim()
  const ask = () => runAnnex(['sites'], { env: { ANNEX_URL: served.url, ANNEX_TOKEN: token } })
  assert.equal((await ask()).code, 0)
  const list = await run('tokens')
  const [, id = ''] = /(tok_\S+)\s+reader\s.*dashboard/.exec(list) ?? []
  assert.ok(id !== '' && !list.includes(token), list)
  await run('tokens', 'revoke', id)
  const refused = await ask()
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /401 unauthorized/)
  assert.match(await run('tokens', '--operator'), /operator\s.*command line/)
  const late = await served.annex('tokens', 'new', '--expires', '2020-01-01')
  assert.equal(late.code, 2)
  assert.match(late.stderr, /must be in the future/)
})

test('records are changed by an external id, and deleted', async () => {
  await run('sites', 'create', 'guides', '--external-id', 'ext-1')
  assert.match(
    await run('sites', 'change', 'ext-1', '--title', 'Guides', '--visibility', 'public'),
    /is changed/,
  )
  assert.match(await run('sites'), /guides\s+Guides/)
  const unsure = await served.annex('sites', 'delete', 'guides')
  assert.equal(unsure.code, 2)
  assert.match(unsure.stderr, /--yes/)
  assert.match(await run('sites', 'delete', 'ext-1', '--yes'), /is deleted/)
  assert.ok(!(await run('sites')).includes('guides'))
})
