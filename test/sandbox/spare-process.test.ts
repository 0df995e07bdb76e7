import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type Annex, startAnnex, until } from '../support/annex.ts'

const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('fine') })`

const slotsOf = ({ server }: Annex): string[] => server.sandboxes.processes().map(({ slot }) => slot)

async function answerOnce(annex: Annex): Promise<string> {
  return (await fetch(`${annex.url}/x/plain`)).text()
}

it('a spare process starts with Annex, serves the first request, and is replaced', async () => {
  await using ends = new AsyncDisposableStack()
  const annex = await startAnnex({
    sandboxes: 'processes',
    plugins: { plain: { script } },
    flags: { SANDBOX_SPARE: 'true' },
  })
  ends.defer(annex.close)
  assert.deepEqual(slotsOf(annex), ['spare'])
  const [spare] = annex.server.sandboxes.processes()
  assert.equal(await answerOnce(annex), 'fine')
  const used = annex.server.sandboxes.processes().find(({ slot }) => slot === 'operator#0')
  assert.equal(used?.pid, spare?.pid)
  await until(
    async () => slotsOf(annex),
    (slots) => slots.includes('spare'),
  )
})

it('without SANDBOX_SPARE a process starts with the first request, also after the end of another', async () => {
  await using ends = new AsyncDisposableStack()
  const annex = await startAnnex({
    sandboxes: 'processes',
    plugins: { plain: { script } },
    flags: { SANDBOX_SPARE: 'false' },
  })
  ends.defer(annex.close)
  assert.deepEqual(slotsOf(annex), [])
  assert.equal(await answerOnce(annex), 'fine')
  const [used] = annex.server.sandboxes.processes()
  assert.deepEqual(slotsOf(annex), ['operator#0'])
  // Longer than the time after which a spare would start.
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  assert.deepEqual(slotsOf(annex), ['operator#0'])
  process.kill(used?.pid ?? 0, 'SIGKILL')
  await until(
    async () => annex.server.sandboxes.processes(),
    ([replacement]) => replacement !== undefined && replacement.pid !== used?.pid,
  )
  assert.equal(await answerOnce(annex), 'fine')
  assert.deepEqual(slotsOf(annex), ['operator#0'])
})
