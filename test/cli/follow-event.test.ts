import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { writePlugin } from '../support/plugin-folder.ts'
import { startReceiver } from '../support/receiver.ts'
import { makeFolder } from './support/run-annex.ts'
import { startInProcess } from './support/start-in-process.ts'

/** A server with an integration whose handler of `site_view` has this body. */
async function serveHandler(context: TestContext, body: string, retrySeconds: string) {
  const plugins = await makeFolder(context)
  const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async () => new Response('hi'),
  events: { site_view: async (event, { integration, storage }) => { ${body} } },
})`
  writePlugin(plugins, 'late', { scopes: ['site:views:read'], script })
  const served = await startInProcess({
    SANDBOX_CALLS: '300',
    PLUGINS_DIR: plugins,
    DELIVERY_RETRY_SECONDS: retrySeconds,
    EGRESS_ALLOW: '127.0.0.1',
  })
  context.after(served.close)
  const installed = await served.annex('install', 'late', '--yes', '--site', 'sample')
  assert.equal(installed.code, 0, installed.stderr)
  const follow = () => served.annex('events', 'publish', 'site_view', '--follow')
  return Object.assign(follow, { annex: served.annex })
}

test('publish --follow waits for a delivery that a retried handler queues late', async (context) => {
  // The handler's first request fails. Its retry comes later than `quietMs`.
  const receiver = await startReceiver(503, 200)
  context.after(receiver.close)
  const url = JSON.stringify(receiver.url)
  const handler = `if (!(await fetch(${url}, { method: 'POST' })).ok) throw new Error('not yet')
    await integration.queueDelivery({ url: ${url}, event })`
  const follow = await serveHandler(context, handler, '6')
  const { code, stdout, stderr } = await follow()
  assert.match(stdout, /--> site_view evt_\S+ to .*\n.*<-- 200 .*, delivered/, stderr)
  assert.equal(code, 0)
})

test('publish --follow ends with exit code 1 and the job’s id when a handler uses up its retries', async (context) => {
  const follow = await serveHandler(context, `throw new Error('no way')`, '0.1')
  const { code, stderr } = await follow()
  assert.match(stderr, /late has not handled it: .*failed.* See `npx annex jobs show job_\S+`/)
  assert.doesNotMatch(stderr, /handled it in/)
  assert.equal(code, 1)
})

test('publish --follow prints the calls and the duration of a handler, and a missing handler', async (context) => {
  const receiver = await startReceiver(200)
  context.after(receiver.close)
  const url = JSON.stringify(receiver.url)
  const follow = await serveHandler(
    context,
    `await fetch(${url}); await storage.put('seen', 1); await storage.get('seen')
    await integration.queueTask({ task: {} })
    for (const n of [1, 2]) await integration.queueDelivery({ url: ${url} + '?' + n, event })
    await integration.queueDelivery({ url: 'ftp://refused.example', event }).catch(() => {})`,
    '1',
  )
  const { code, stderr } = await follow()
  assert.match(
    stderr,
    /^late inst_\S+ handled it in [\d.]+ ms, with 1 outbound request, 2 deliveries and 1 task\. See `npx annex logs req_\S+`\.$/m,
  )
  assert.doesNotMatch(stderr, /No script asked|failed/)
  assert.equal(code, 0)
  const { stdout: logs } = await follow.annex('logs', 'late')
  assert.match(logs, /site_view ok/)
  // Its setup events, and its task.
  assert.doesNotMatch(logs, /406|installation_setup|no_handler/)
  const quiet = await follow.annex('events', 'publish', 'page_feedback', '--follow')
  assert.match(quiet.stderr, /^late inst_\S+ has no handler for page_feedback\.$/m)
})

test('publish --follow follows more deliveries than one page of the list has', async (context) => {
  const receiver = await startReceiver(200)
  context.after(receiver.close)
  const handler = `await Promise.all(Array.from({ length: 25 }, async (_, n) => {
    for (let m = 0; m < 10; m += 1) {
      await integration.queueDelivery({ url: ${JSON.stringify(receiver.url)} + '?' + n + '-' + m, event })
    }
  }))`
  const follow = await serveHandler(context, handler, '1')
  const { code, stdout } = await follow()
  assert.equal(stdout.match(/, delivered/g)?.length, 250)
  assert.equal(code, 0)
})
