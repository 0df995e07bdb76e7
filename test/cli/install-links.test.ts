import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { writePlugin } from '../support/plugin-folder.ts'
import { assertHarmless } from './support/assert-harmless.ts'
import { type Ran, runAnnex } from './support/run-annex.ts'
import { type Started, startInProcess } from './support/start-in-process.ts'

const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: () => new Response('here') })`

describe('annex install-links', () => {
  const plugins = mkdtempSync(join(tmpdir(), 'annex-plugins-'))
  let served: Started
  before(async () => {
    for (const name of ['hidden', 'other']) writePlugin(plugins, name, { script, visibility: 'unlisted' })
    served = await startInProcess({ PLUGINS_DIR: plugins })
  })
  after(async () => {
    await served?.close()
    rmSync(plugins, { recursive: true })
  })

  const annex = async (...args: string[]): Promise<Ran> => {
    const ran = await served.annex(...args)
    assert.equal(ran.code, 0, `${args.join(' ')}: ${ran.stderr}`)
    assertHarmless(ran.stdout + ran.stderr)
    return ran
  }
  type Listed = { items: { id: string; label?: string }[] }
  const list = async (name = 'hidden'): Promise<Listed['items']> =>
    (JSON.parse((await annex('install-links', 'list', name, '--json')).stdout) as Listed).items

  it('creates a link, and prints its address on stdout and the next command on stderr', async () => {
    const { stdout, stderr } = await annex('install-links', 'new', 'hidden', '--label', 'acme')
    const { hash } = new URL(stdout.trim())
    const [, key = ''] = /annex install hidden --install-key (\S+)/.exec(stderr) ?? []
    assert.ok(key.length >= 20, stderr)
    assert.ok(`${stdout}${hash}`.includes(key), stdout)
    assert.match(stderr, /it is shown only once/)
  })

  it('lists links with their labels, the newest first, without their keys', async () => {
    const made = JSON.parse((await annex('install-links', 'new', 'hidden', '--json')).stdout)
    const items = await list()
    assert.deepEqual(
      items.slice(0, 2).map(({ id, label }) => [id === made.id, label]),
      [
        [true, ''],
        [false, 'acme'],
      ],
    )
    for (const args of [
      ['install-links', 'hidden'],
      ['install-links', 'list', 'hidden'],
    ]) {
      const { stdout } = await annex(...args)
      const lines = stdout.trimEnd().split('\n')
      assert.match(lines[0] ?? '', /^link +made +label$/)
      assert.match(lines[1] ?? '', new RegExp(`^${made.id} +\\d{4}-`))
      assert.match(lines[2] ?? '', / acme$/)
      assert.ok(!stdout.includes(made.installKey), stdout)
    }
    assert.ok(!(await list('other')).some(({ id }) => id === made.id), 'another integration has its own')
  })

  it('revokes one link', async () => {
    const [first, second] = await Promise.all(
      ['one', 'two'].map(async (label) =>
        JSON.parse((await annex('install-links', 'new', 'hidden', '--label', label, '--json')).stdout),
      ),
    )
    const { stdout } = await annex('install-links', 'revoke', 'hidden', first.id)
    assert.equal(stdout, `${first.id} is revoked.\n`)
    const left = (await list()).map(({ id }) => id)
    assert.deepEqual([left.includes(first.id), left.includes(second.id)], [false, true])
    const again = await served.annex('install-links', 'revoke', 'hidden', first.id)
    assert.deepEqual([again.code, again.stdout], [1, ''])
    assert.match(again.stderr, new RegExp(first.id))
    const revoked = JSON.parse((await annex('install-links', 'revoke', 'hidden', second.id, '--json')).stdout)
    assert.deepEqual(revoked, { id: second.id, revoked: true })
  })

  it('names an unknown integration and a missing name', async () => {
    const unknown = await served.annex('install-links', 'list', 'hiden')
    assert.equal(unknown.code, 1)
    assert.match(unknown.stderr, /hiden/)
    const missing = await served.annex('install-links', 'new')
    assert.equal(missing.code, 2)
    assert.match((await runAnnex(['install-links', '--help'])).stdout, /annex install-links revoke/)
  })
})
