import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { writePlugin } from '../support/plugin-folder.ts'
import type { Ran } from './support/run-annex.ts'
import { type Started, startInProcess } from './support/start-in-process.ts'

const script = (version: string) => `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: () => new Response('${version}') })`

describe('a new user, by annex alone', () => {
  const plugins = mkdtempSync(join(tmpdir(), 'annex-plugins-'))
  let served: Started
  let endpoint = ''
  before(async () => {
    writePlugin(plugins, 'story', { script: script('one'), scopes: ['site:metadata:read'] })
    const key =
      'configurations: { site: { properties: { key: { type: string, title: K, description: K } } } }'
    writePlugin(plugins, 'plain', { script: script('plain'), more: key })
    served = await startInProcess({ PLUGINS_DIR: plugins })
  })
  after(async () => {
    await served?.close()
    rmSync(plugins, { recursive: true })
  })

  const annex = async (...args: string[]): Promise<Ran> => {
    const ran = await served.annex(...args)
    assert.equal(ran.code, 0, ran.stderr)
    return ran
  }
  const answer = async (): Promise<string> => (await fetch(endpoint)).text()

  it('reads the permissions of an integration, and installs it', async () => {
    const refused = await served.annex('install', 'story')
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, /Read titles and addresses of the sites that it is installed in\./)
    assert.match(refused.stderr, /Send data to any public host\./)
    assert.match(refused.stderr, /Without a terminal, agree with --yes: npx annex install story --yes\n/)
    const { stdout } = await annex('install', 'story', '--yes')
    endpoint = /endpoint (\S+)/.exec(stdout)?.[1] ?? ''
    assert.equal(await answer(), 'one')
  })

  it('must agree explicitly, also without scopes, and sees no secret in the hint', async () => {
    const options = ['--site', 'sample', '--set', 'key=s3cret', '--install-key', 'k3y']
    const refused = await served.annex('install', 'plain', ...options)
    assert.equal(refused.code, 2, refused.stderr)
    const command = 'npx annex install plain --site sample --install-key … --set key=… --yes'
    assert.ok(refused.stderr.includes(`Without a terminal, agree with --yes: ${command}\n`), refused.stderr)
    assert.match(refused.stderr, /Version 1 of plain asks for:\n {2}Send data to any public host\./)
    assert.doesNotMatch(refused.stderr, /s3cret|k3y/)
    assert.match((await annex('installations')).stdout, /story/)
    assert.doesNotMatch((await annex('installations')).stdout, /plain/)
  })

  it('checks a version with a new scope, publishes it, and sees that it waits', async () => {
    const folder = writePlugin(plugins, 'story', {
      script: script('two'),
      scopes: ['site:metadata:read', 'site:views:read'],
    })
    const checked = await annex('check', folder, '--against', '1')
    assert.match(checked.stdout, /^story: admins have to agree/)
    assert.match(checked.stdout, /\+ Read the visits of the sites/)
    await annex('reload')
    assert.equal(await answer(), 'one')
    const problems = await served.annex('problems')
    assert.equal(problems.code, 1)
    assert.match(problems.stdout, /Version 2 of story waits.*\n {2}organization home, since \d/)
  })

  it('sees the difference, and agrees to it', async () => {
    const { stdout } = await annex('diff', 'story')
    assert.match(stdout, /^version 1 → 2\n\+ Read the visits of the sites/)
    const refused = await served.annex('agree', 'story')
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, /Read the visits of the sites/)
    assert.match(refused.stderr, /Without a terminal, agree with --yes: npx annex agree inst_\S+ --yes\n/)
    assert.equal(await answer(), 'one')
    const agreed = await annex('agree', 'story', '--yes')
    assert.match(agreed.stdout, /runs version 2\n$/)
    const again = JSON.parse((await annex('agree', 'story', '--json')).stdout)
    assert.deepEqual([again.version, again.waiting], [2, null])
    assert.equal(await answer(), 'two')
    assert.match((await annex('problems')).stderr, /There is no problem\./)
  })

  it('rolls back, and a reload keeps the rollback', async () => {
    assert.match((await annex('rollback', 'story', '--yes')).stdout, /^story runs version 1, pinned\n$/)
    await annex('reload')
    assert.equal(await answer(), 'one')
    assert.match((await annex('versions', 'story')).stdout, /2\s+loaded.*\n1\s+pinned/)
    await annex('unpin', 'story')
    assert.equal(await answer(), 'two')
  })

  it('uninstalls, installs again, and reads the changes in the audit', async () => {
    await annex('uninstall', 'story', '--yes')
    const { stdout } = await annex('install', 'story', '--yes')
    assert.ok(!stdout.includes(endpoint))
    const { stdout: audit } = await annex('audit', '--json')
    const actions = JSON.parse(audit).items.map(({ action }: { action: string }) => action)
    for (const action of ['installation.delete', 'grant.create', 'version.roll_back', 'version.unpin'])
      assert.ok(actions.includes(action), action)
  })

  it('removes the records of a folder that is gone', async () => {
    rmSync(join(plugins, 'story'), { recursive: true })
    await annex('reload')
    assert.equal((await annex('prune')).stdout, '')
    assert.match((await annex('prune', '--installations', '--dry-run')).stdout, /^story, installations: 1/)
    await annex('prune', '--installations')
    assert.doesNotMatch((await annex('integrations')).stdout, /story/)
  })
})

describe('annex diff', () => {
  const plugins = mkdtempSync(join(tmpdir(), 'annex-plugins-'))
  let served: Started
  before(async () => {
    writePlugin(plugins, 'shared', { script: script('one'), visibility: 'public' })
    served = await startInProcess({ PLUGINS_DIR: plugins })
  })
  after(async () => {
    await served?.close()
    rmSync(plugins, { recursive: true })
  })

  const annex = async (...args: string[]): Promise<string> => {
    const ran = await served.annex(...args)
    assert.equal(ran.code, 0, `${args.join(' ')}: ${ran.stderr}`)
    return ran.stdout
  }

  it('shows the number of organizations that wait', async () => {
    const ids: string[] = []
    for (const organization of ['first', 'second']) {
      await annex('orgs', 'create', organization)
      const { installation } = JSON.parse(
        await annex('install', 'shared', '--org', organization, '--yes', '--json'),
      )
      ids.push(installation.id)
    }
    writePlugin(plugins, 'shared', {
      script: script('two'),
      visibility: 'public',
      scopes: ['site:views:read'],
    })
    await annex('reload')
    const waits = (who: string) =>
      new RegExp(
        `^version 1 → 2\n\\+ Read the visits of the sites[^\n]*\n${who} not agreed to version 2\\. Outside of installations it does not reach them\\.\n$`,
      )
    assert.match(await annex('diff', 'shared'), waits('2 organizations have'))
    assert.equal(JSON.parse(await annex('diff', 'shared', '--json')).waiting, 2)
    await annex('agree', ids[0] ?? '', '--yes')
    assert.match(await annex('diff', 'shared'), waits('1 organization has'))
    await annex('agree', ids[1] ?? '', '--yes')
    assert.match(await annex('diff', 'shared'), /^version 1 → 2\n\+ Read the visits of the sites[^\n]*\n$/)
  })
})
