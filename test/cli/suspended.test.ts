import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { writePlugin } from '../support/plugin-folder.ts'
import { type Served, startServe } from './support/start-serve.ts'

const bomb = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async (request) => {
  if (request.url.endsWith('/kill')) { let n = 2n; for (;;) n = n * n }
  return new Response('alive')
} })`

describe('annex with a script that kills its process repeatedly', () => {
  const plugins = mkdtempSync(join(tmpdir(), 'annex-plugins-'))
  let served: Served
  let endpoint = ''
  const kill = async (url: string) => {
    // Four times is enough, but on a busy machine it may run out of CPU time before it is at the operation that nothing stops.
    for (let n = 0; n < 12; n += 1) {
      await (await fetch(`${url}/kill`)).text()
      if (n >= 3 && (await fetch(url)).status === 503) return
    }
    assert.fail('it is not suspended')
  }
  const annex = async (...args: string[]) => {
    const { code, stdout, stderr } = await served.annex(...args)
    assert.equal(code, 0, stderr)
    return { stdout, stderr }
  }
  before(async () => {
    writePlugin(plugins, 'bomb', { script: bomb })
    served = await startServe({ PLUGINS_DIR: plugins, SANDBOX_CPU_MS: '100' })
    endpoint = /endpoint (\S+)/.exec((await annex('install', 'bomb', '--yes')).stdout)?.[1] ?? ''
    await kill(endpoint)
  })
  after(async () => {
    await served?.close()
    rmSync(plugins, { recursive: true })
  })

  it('shows the reason of the suspension and the next step in the list, the details and the log', async () => {
    const list = await annex('installations')
    assert.match(list.stdout, /inst_\S+\s+bomb\s+suspended/)
    assert.match(
      list.stderr,
      /^inst_\S+ is suspended\. .*4 times within 10 minutes.*`npx annex resume inst_\S+`/m,
    )
    const one = await annex('installations', 'bomb')
    assert.match(one.stdout, /4 times within 10 minutes/)
    assert.match(one.stderr, /`npx annex resume inst_\S+`/)
    assert.match((await annex('logs', 'bomb')).stdout, /Suspended\. .*4 times within 10 minutes/)
  })

  it('resumes the installation', async () => {
    assert.match((await annex('resume', 'bomb')).stdout, /^bomb inst_\S+ active$/m)
    assert.equal(await (await fetch(endpoint)).text(), 'alive')
  })

  it('resumes an integration that is suspended as a whole', async () => {
    await kill(`${served.url}/x/bomb`)
    assert.match(
      (await annex('integrations')).stderr,
      /bomb is suspended as a whole\. .*4 times within 10 minutes/,
    )
    assert.match((await annex('resume', '--integration', 'bomb')).stdout, /^bomb active$/m)
    assert.equal(await (await fetch(`${served.url}/x/bomb`)).text(), 'alive')
  })

  it('takes an installation or an integration for resume, not both', async () => {
    for (const args of [[], ['bomb', '--integration', 'bomb']]) {
      const { code, stderr } = await served.annex('resume', ...args)
      assert.equal(code, 2)
      assert.match(stderr, /Name an installation, or an integration with --integration\./)
    }
  })
})
