import { agreementTo } from './agreement.ts'
import type { Annex, Json } from './annex.ts'
import { until } from './annex.ts'

/** Installs an integration in an organization, and waits until its setup event is done. */
export async function installIn(
  annex: Pick<Annex, 'api'>,
  integration: string,
  organization: string,
): Promise<{ id: string; path: string; endpoint: string; secret: string }> {
  const base = `/v1/integrations/${integration}/installations`
  const agreement = await agreementTo(annex, integration)
  const installed = await annex.api('POST', base, { organization, ...agreement })
  if (installed.status !== 201) throw new Error(`install: ${installed.text}`)
  const { id, signingSecret: secret, urls } = installed.json
  const path = `${base}/${id}`
  await until(
    () => annex.api('GET', path),
    ({ json }: Json) => json.status === 'active',
  )
  return { id, path, endpoint: urls.publicEndpoint, secret }
}

/** Agrees to the version that waits for an installation, given by its path. */
export async function agree(annex: Pick<Annex, 'api'>, path: string): Promise<void> {
  const integration = path.split('/')[3] ?? ''
  const body = await agreementTo(annex, integration)
  const { status, text } = await annex.api('POST', `${path}/agreement`, body)
  if (status !== 200) throw new Error(`agree: ${text}`)
}
