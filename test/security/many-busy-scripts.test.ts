// tier: wall (its loops use every processor)

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { startAnnex } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { spin } from '../support/spin.ts'

/** Far more than 100 ms without a pause: each installation of it may run alone. */
const busy = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: () => new Response(String(${spin(250)})) })`

it('busy scripts of one publisher share a bounded number of processes, and all are answered', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-busy-'))
  const pluginsDir = join(folder, 'plugins')
  const flags = {
    SANDBOX_SPARE: 'true',
    SANDBOX_PROCESSES_MAX: '4',
    SANDBOX_CPU_MS: '30000',
    SANDBOX_WALL_MS: '60000',
  }
  const annex = await startAnnex({ sandboxes: 'processes', pluginsDir, flags })
  try {
    await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })
    const names = Array.from({ length: 8 }, (_none, n) => `busy-${n}`)
    for (const name of names) writePlugin(pluginsDir, name, { organization: 'acme', script: busy })
    assert.equal((await annex.api('POST', '/v1/reload')).status, 200)
    let most = 0
    const watch = setInterval(() => {
      const alone = annex.server.sandboxes.processes().filter(({ slot }) => slot.includes('!'))
      most = Math.max(most, alone.length)
    }, 5)
    const ask = async () => (await fetch(`${annex.url}/x/${names[asked++ % names.length]}`)).status
    let asked = 0
    const statuses: number[] = []
    for (let round = 0; round < 3; round += 1)
      statuses.push(...(await Promise.all(Array.from({ length: names.length }, ask))))
    clearInterval(watch)
    assert.deepEqual(
      statuses.filter((status) => status !== 200),
      [],
    )
    assert.ok(most === 1 || most === 2, `${most}; half of SANDBOX_PROCESSES_MAX at most`)
  } finally {
    await annex.close()
    rmSync(folder, { recursive: true })
  }
})
