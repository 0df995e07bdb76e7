import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { createGate, listen } from '../../host/api/listen.ts'

async function openGate(t: TestContext) {
  const gate = createGate()
  const { port, close } = await listen(gate.handle, '127.0.0.1', 0)
  t.after(close)
  return { gate, ask: async () => (await fetch(`http://127.0.0.1:${port}`)).text() }
}

describe('requests during a start', () => {
  it('wait until Annex can answer', async (t) => {
    const { gate, ask } = await openGate(t)
    const waiting = [ask(), ask()]
    const first = await Promise.race([...waiting, new Promise((resolve) => setTimeout(resolve, 50, 'none'))])
    assert.equal(first, 'none')
    gate.open((_request, response) => response.end('here'))
    assert.deepEqual(await Promise.all([...waiting, ask()]), ['here', 'here', 'here'])
  })

  it('are broken off when Annex does not start', async (t) => {
    const { gate, ask } = await openGate(t)
    const waiting = assert.rejects(ask(), /fetch failed/)
    await new Promise((resolve) => setTimeout(resolve, 50))
    gate.close()
    await waiting
    await assert.rejects(ask(), /fetch failed/)
  })
})
