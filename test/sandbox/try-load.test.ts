import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { bundleScript } from '../../host/bundle/bundle-script.ts'
import { loadSettings } from '../../host/config/load-settings.ts'
import { type RunningServer, startServer } from '../../host/server.ts'
import { sdkFolder } from '../../host/versions/load-plugins.ts'
import type { Tried, TryLoad } from '../../host/versions/try-version.ts'
import { createManifest } from '../bundle/plugin-folder.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { spin } from '../support/spin.ts'

const handling = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ events: { site_view: async () => {} } })`

const scripts = {
  handling,
  // Computes far longer than the time after which a process waits for permission of the host.
  busy: `globalThis.n = ${spin(200)}\n${handling}`,
  'never answering': `import { createIntegration } from '@annex/runtime'
createIntegration({})
export default { [Symbol.for('annex.dispatch')]: () => { for (;;); } }`,
  endless: `for (;;) {}\n${handling}`,
}

describe('the trial process of a publisher', () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-try-load-'))
  const codes = new Map<string, string>()
  let server: RunningServer
  let tryLoad: TryLoad
  before(async () => {
    const [dataDir, pluginsDir] = [join(folder, 'data'), join(folder, 'plugins')]
    for (const [name, script] of Object.entries(scripts)) {
      const plugin = writePlugin(join(folder, 'sources'), name.replaceAll(' ', '-'), { script })
      const { bundle } = await bundleScript(plugin, createManifest(), { sdkFolder })
      codes.set(name, bundle?.code ?? '')
    }
    const flags = {
      ...{ PORT: '0', LOG_LEVEL: 'silent', DATA_DIR: dataDir, PLUGINS_DIR: pluginsDir },
      ...{ SANDBOX_LOAD_MS: '500', SANDBOX_CPU_MS: '500' },
    }
    writePlugin(pluginsDir, 'first', { script: handling })
    server = await startServer(loadSettings({ flags, environment: process.env, envFile: '/nowhere/.env' }), {
      reuse: {
        wall: (_required, reach) => reach(),
        tryLoad(real) {
          tryLoad = real
          return real
        },
      },
    })
  })
  after(async () => {
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const attempt = (publisher: string, name: keyof typeof scripts): Promise<Tried> =>
    tryLoad({ publisher, integration: 'tried', code: codes.get(name) ?? '' })

  /** Runs `work`, and returns the processes that were started meanwhile and still run. */
  const startedBy = async (work: () => Promise<unknown>): Promise<number[]> => {
    const before = new Set(children())
    await work()
    return children().filter((pid) => !before.has(pid))
  }

  it('is shared by its versions, and not with another publisher', async () => {
    assert.equal((await startedBy(() => attempt('a', 'handling'))).length, 1)
    assert.deepEqual(await startedBy(() => attempt('a', 'handling')), [])
    assert.equal((await startedBy(() => attempt('b', 'handling'))).length, 1)
    const both = () => Promise.all([attempt('c', 'handling'), attempt('d', 'handling')])
    assert.equal((await startedBy(both)).length, 2, 'side by side')
  })

  it('answers after a version that computes for long at its top level', async () => {
    assert.deepEqual((await attempt('a', 'busy')).events, ['site_view'])
  })

  for (const earlier of ['never answering', 'endless'] as const) {
    it(`still accepts a good version after one that is ${earlier}`, async () => {
      const bad = attempt('a', earlier)
      const [good, next] = [attempt('a', 'handling'), attempt('a', 'busy')]
      assert.equal('failure' in (await bad), earlier === 'endless')
      assert.deepEqual((await good).events, ['site_view'])
      assert.deepEqual((await next).events, ['site_view'])
    })
  }
})

/** A child belongs to the thread that has started it. */
function children(): number[] {
  return readdirSync('/proc/self/task').flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
}
