import { setTimeout as sleep } from 'node:timers/promises'
import { readLevel } from '../../../../host/cli/find-records.ts'
import { toAgreement } from '../../../../host/cli/install.ts'
import type { Client } from '../../../../schemas/client.ts'
import { writePlugin } from '../../../support/plugin-folder.ts'

const name = 'bench'

/** A plugin that queues each event for all URLs, with a body of 1 KiB, as an integrator would write it. */
export function writeBenchPlugin(pluginsDir: string, urls: readonly string[]): void {
  const script = `
import { createIntegration } from '@annex/runtime'
const urls = ${JSON.stringify(urls)}
const bodyBytes = 1024
export default createIntegration({
  events: {
    async space_content_updated(event, { integration }) {
      const empty = { ...event, padding: '' }
      const padded = { ...empty, padding: 'x'.repeat(bodyBytes - JSON.stringify(empty).length) }
      await Promise.all(urls.map((url) => integration.queueDelivery({ url, event: padded })))
    },
  },
})`
  writePlugin(pluginsDir, name, { script, scopes: ['space:content:read'] })
}

/** Installs the plugin in a space and waits until events reach it, unless a start before has. @returns the installation's id */
export async function installBench(
  api: Client,
  { organization, space }: { organization: string; space: string },
): Promise<string> {
  const { items } = await api.call('GET /v1/installations')
  const before = items.find(({ integration }) => integration === name)
  if (before !== undefined) return before.id
  const integration = await api.call('GET /v1/integrations/{integration}', { params: { integration: name } })
  const { id } = await api.call('POST /v1/integrations/{integration}/installations', {
    params: { integration: name },
    body: { organization, ...toAgreement(integration) },
  })
  const params = { integration: name, installation: id }
  await api.call('POST /v1/integrations/{integration}/installations/{installation}/spaces', {
    params,
    body: { space },
  })
  // Each level is active once its script has handled its setup event.
  for (const level of [params, { ...params, space }]) {
    while ((await readLevel(api, level)).status !== 'active') await sleep(20)
  }
  return id
}

/** How many deliveries are pending, up to 200. */
export async function countOwed(api: Client): Promise<number> {
  const failed = await api.call('GET /v1/deliveries', { query: { state: 'failed', limit: 1 } })
  if (failed.count > 0) throw new Error(`A delivery has failed: ${failed.items[0]?.reason}`)
  return (await api.call('GET /v1/deliveries', { query: { state: 'pending', limit: 200 } })).count
}
