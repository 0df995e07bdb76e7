import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startAnnex } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const honest = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('fine') })`

/** An Annex in which three publishers have an integration each. */
async function startWithPublishers(ends: AsyncDisposableStack, given: Parameters<typeof startAnnex>[0]) {
  const annex = await startAnnex(given)
  ends.defer(annex.close)
  const names = ['one', 'two', 'three']
  for (const name of names) {
    await annex.api('POST', '/v1/orgs', { subdomain: name, title: name })
    writePlugin(annex.pluginsDir, name, { organization: name, script: honest })
  }
  await annex.api('POST', '/v1/reload')
  for (const name of names) assert.equal(await (await fetch(`${annex.url}/x/${name}`)).text(), 'fine')
  const third = annex.server.sandboxes.processes().filter(({ slot }) => slot.startsWith('third-party'))
  return new Map(third.map(({ slot, loaded }) => [slot, loaded]))
}

describe('the integrations of different publishers', () => {
  it('run in processes of their own', async () => {
    await using ends = new AsyncDisposableStack()
    const loaded = await startWithPublishers(ends, { sandboxes: 'processes' })
    assert.deepEqual([...loaded].toSorted(), [
      ['third-party#0', 1],
      ['third-party#1', 1],
      ['third-party#2', 1],
    ])
  })

  it('share a process above SANDBOX_PROCESSES_MAX', async () => {
    await using ends = new AsyncDisposableStack()
    const loaded = await startWithPublishers(ends, { flags: { SANDBOX_PROCESSES_MAX: '2' } })
    assert.deepEqual([...loaded].toSorted(), [
      ['third-party#0', 2],
      ['third-party#1', 1],
    ])
  })
})
