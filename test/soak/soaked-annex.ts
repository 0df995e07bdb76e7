import { createClient } from '../../schemas/client.ts'
import { type BenchedAnnex, createFolders, startAnnex } from '../bench/servers/start-annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { honestNames, soakPlugins } from './plugins.ts'
import { type SoakReceiver, startSoakReceiver } from './receiver.ts'

export type SoakedAnnex = {
  annex: BenchedAnnex
  receiver: SoakReceiver
  /** Of the honest installations, and of their integrations as a whole. */
  endpoints: { name: string; url: string }[]
}

/** An Annex with all plugins of the soak, as a process of its own. `ends` takes it down. */
export async function startSoakedAnnex(ends: AsyncDisposableStack): Promise<SoakedAnnex> {
  const receiver = await startSoakReceiver()
  ends.defer(() => receiver.close())
  const folders = createFolders()
  ends.defer(() => folders.remove())
  for (const [name, source] of Object.entries(soakPlugins(receiver.url))) {
    writePlugin(folders.pluginsDir, name, source)
  }
  const annex = await startAnnex(folders, { EGRESS_ALLOW: '127.0.0.1' })
  ends.defer(annex.close)
  return { annex, receiver, endpoints: await install(annex) }
}

/** The strangers, their plugins, and an installation of each honest one that gets events. */
async function install(annex: BenchedAnnex): Promise<{ name: string; url: string }[]> {
  const api = createClient({ url: annex.origin, token: annex.token })
  await api.call('POST /v1/orgs', { body: { subdomain: 'strangers', title: 'Strangers' } })
  await api.call('POST /v1/reload')
  const endpoints: { name: string; url: string }[] = []
  for (const name of honestNames) {
    const installed = await annex.install(name)
    endpoints.push({ name, url: installed.urls.publicEndpoint }, { name, url: `${annex.origin}/x/${name}` })
    const { site } = annex.samples
    const params = { integration: name, installation: installed.id }
    await api.call('POST /v1/integrations/{integration}/installations/{installation}/sites', {
      params,
      body: { site },
    })
  }
  return endpoints
}
