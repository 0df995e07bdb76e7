import { agreementTo } from '../../support/agreement.ts'
import type { Listening } from '../../support/host-process.ts'
import { writePlugin } from '../../support/plugin-folder.ts'

/** Writes an integration whose handler queues a delivery of each event to each URL, one after the other. */
export function writeFanOut(pluginsDir: string, urls: readonly string[]): void {
  writePlugin(pluginsDir, 'fan-out', {
    scopes: ['site:views:read'],
    script: `import { createIntegration } from '@annex/runtime'
export default createIntegration({ events: { site_view: async (event, { integration }) => {
  for (const url of ${JSON.stringify(urls)}) await integration.queueDelivery({ url, event })
} } })`,
  })
}

/** Installs it in the sample site. What this has answered is acknowledged as well. */
export async function installFanOut({ api, samples }: Listening): Promise<void> {
  const base = '/v1/integrations/fan-out/installations'
  const installed = await api('POST', base, {
    organization: samples.organization,
    ...(await agreementTo({ api }, 'fan-out')),
  })
  if (installed.status !== 201) throw new Error(`install: ${installed.text}`)
  const site = await api('POST', `${base}/${installed.json.id}/sites`, { site: samples.site })
  if (site.status !== 201) throw new Error(`install in the site: ${site.text}`)
  const end = Date.now() + 20_000
  for (const path of [`${base}/${installed.json.id}`, `${base}/${installed.json.id}/sites/${samples.site}`]) {
    while ((await api('GET', path)).json?.status !== 'active') {
      if (Date.now() > end) throw new Error(`not active after 20 s: ${path}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  // A reading may show what the disk has a few ms later. What is answered here it has, and with it all that was stored before.
  const stored = await api('PATCH', `${base}/${installed.json.id}`, { externalIds: ['fan-out'] })
  if (stored.status !== 200) throw new Error(`change: ${stored.text}`)
}
