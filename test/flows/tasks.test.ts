import assert from 'node:assert/strict'
import { it } from 'node:test'
import { installSample, type Json, startAnnex, until } from '../support/annex.ts'

const queues = `
import { createIntegration } from '@annex/runtime'
let failures = 0
export default createIntegration({
  fetch: async (request, { integration }) => {
    await integration.queueTask({ task: { type: 'count', at: new URL(request.url).searchParams.get('at') }, schedule: 1 })
    return new Response('queued')
  },
  task: async (task, { environment }) => {
    if (failures++ === 0) throw new Error('the first time it fails')
    console.log('task ' + JSON.stringify(task) + ' of ' + environment.installation?.id)
  },
})`

it('a task runs later for its installation, and again after a failure', async () => {
  const annex = await startAnnex({ plugins: { queues: { script: queues } } })
  try {
    const { endpoint, id } = await installSample(annex, 'queues')
    assert.equal(await (await fetch(`${endpoint}?at=noon`)).text(), 'queued')
    const { json } = await until(
      () => annex.api('GET', `/v1/logs?installation=${id}`),
      ({ json }) => json.items.some(({ text }: Json) => text.startsWith('task ')),
    )
    const texts = json.items.map(({ text }: Json) => text)
    assert.ok(texts.some((text: string) => text.startsWith('Error: the first time it fails')))
    assert.ok(texts.includes(`task {"type":"count","at":"noon"} of ${id}`), texts.join('\n'))
  } finally {
    await annex.close()
  }
})

const large = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { integration }) => {
    const task = { pad: 'x'.repeat(Number(await request.text())) }
    const queued = integration.queueTask({ task, schedule: request.url.endsWith('?now') ? 0 : 3_600 })
    return new Response(await queued.then(() => 'queued', (error) => error.message))
  },
})`

it('a task that is too large is refused, and one without a handler fails', async () => {
  const annex = await startAnnex({ plugins: { large: { script: large } } })
  try {
    const { endpoint, id } = await installSample(annex, 'large')
    const queue = async (length: number) =>
      (await fetch(endpoint, { method: 'POST', body: String(length) })).text()
    const around = '{"pad":""}'.length
    assert.equal(await queue(524_288 - around), 'queued')
    assert.match(await queue(524_289 - around), /^The task was not queued: it has 524289 bytes as JSON/)
    const { json } = await annex.api('GET', '/v1/jobs?state=due')
    assert.equal(json.items.length, 1)
    assert.equal(await (await fetch(`${endpoint}?now`, { method: 'POST', body: '1' })).text(), 'queued')
    const failed = await until(
      async () => (await annex.api('GET', '/v1/jobs?state=failed')).json.items,
      ({ length }) => length === 1,
    )
    const reason = 'The script of large has queued a task, and has no handler "task".'
    assert.ok(failed[0].error.message.startsWith(reason), failed[0].error.message)
    const { json: logs } = await annex.api('GET', `/v1/logs?installation=${id}`)
    assert.deepEqual(
      logs.items.map(({ level, text }: Json) => [level, text]),
      [['error', reason]],
    )
  } finally {
    await annex.close()
  }
})
