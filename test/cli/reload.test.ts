import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startAnnex, until } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { runAnnex } from './support/run-annex.ts'

/** Annex waits some seconds for what it says of itself. */
const slow = `import { createIntegration } from '@annex/runtime'
createIntegration({})
export default {
  [Symbol.for('annex.dispatch')]: ({ type }) => type === 'annex_describe' ? new Promise(() => {}) : new Response('slow'),
}`

describe('a reload that takes long', () => {
  it('names its folders', async () => {
    const annex = await startAnnex()
    try {
      const idle = { object: 'folder_load', running: false, loaded: 0, total: 0, folders: [] }
      assert.deepEqual((await annex.api('GET', '/v1/reload')).json, idle)
      writePlugin(annex.pluginsDir, 'slow', { script: slow })
      const reload = annex.api('POST', '/v1/reload')
      const { json } = await until(
        () => annex.api('GET', '/v1/reload'),
        ({ json: load }) => load.folders.length > 0,
      )
      assert.deepEqual(json, { ...idle, running: true, total: 1, folders: ['slow'] })
      assert.equal((await reload).json.items[0].state, 'loaded')
      assert.deepEqual((await annex.api('GET', '/v1/reload')).json, idle)
    } finally {
      await annex.close()
    }
  })

  it('outlasts the limit of other requests, and the command shows its progress', async () => {
    const waitMs = 33_000
    const plugin = { folder: '/p/slow', name: 'slow', scopes: [], state: 'loaded', problems: [] }
    const server = createServer(async (request, response) => {
      if (request.method === 'POST') await sleep(waitMs)
      const load = { object: 'folder_load', running: true, loaded: 3, total: 4, folders: ['slow\u001b[2J'] }
      response.end(JSON.stringify(request.method === 'POST' ? { items: [plugin], count: 1 } : load))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const { code, stdout, stderr } = await runAnnex(['reload', '--url', url, '--token', 'x'])
      assert.equal(code, 0, stderr)
      assert.match(stdout, /slow +loaded/)
      const said = stderr.match(/Still loading: 3 of 4 plugin folders are loaded, now slow\\x1b\[2J\.\n/g)
      assert.equal(said?.length, 3, stderr)
    } finally {
      server.close().closeAllConnections()
    }
  })
})
