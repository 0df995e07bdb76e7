import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { startAnnex } from '../support/annex.ts'

const honest = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('fine') })`

/** An Annex in which three publishers have an integration each. */
async function startWithPublishers(ends: AsyncDisposableStack, flags: Record<string, string>) {
  const dataDir = mkdtempSync(join(tmpdir(), 'annex-publishers-'))
  ends.defer(() => rmSync(dataDir, { recursive: true, force: true }))
  const names = ['one', 'two', 'three']
  const first = await startAnnex({ sandboxes: 'processes', dataDir })
  for (const subdomain of names) await first.api('POST', '/v1/orgs', { subdomain, title: subdomain })
  await first.close()
  const plugins = Object.fromEntries(
    names.map((organization) => [organization, { organization, script: honest }]),
  )
  const annex = await startAnnex({ sandboxes: 'processes', dataDir, plugins, flags })
  ends.defer(annex.close)
  for (const name of names) assert.equal(await (await fetch(`${annex.url}/x/${name}`)).text(), 'fine')
  const third = annex.server.sandboxes.processes().filter(({ slot }) => slot.startsWith('third-party'))
  return new Map(third.map(({ slot, loaded }) => [slot, loaded]))
}

describe('the integrations of different publishers', () => {
  it('run in processes of their own', async () => {
    await using ends = new AsyncDisposableStack()
    const loaded = await startWithPublishers(ends, {})
    assert.deepEqual([...loaded].toSorted(), [
      ['third-party#0', 1],
      ['third-party#1', 1],
      ['third-party#2', 1],
    ])
  })

  it('share a process above SANDBOX_PROCESSES_MAX', async () => {
    await using ends = new AsyncDisposableStack()
    const loaded = await startWithPublishers(ends, { SANDBOX_PROCESSES_MAX: '2' })
    assert.deepEqual([...loaded].toSorted(), [
      ['third-party#0', 2],
      ['third-party#1', 1],
    ])
  })
})
