import { isApiError } from '../../../../../schemas/client.ts'
import type { Integration } from '../../../../../schemas/generated/api/integrations.ts'
import type { Site } from '../../../../../schemas/generated/api/sites.ts'
import { api } from '../../api.ts'

/** What a new Annex has for a first delivery. */
const name = 'webhook'
export type Sample = { integration: Integration; site: Site; receiver: string; installed: boolean }

/** @returns undefined where an organization has no site, or this Annex has no webhook integration */
export async function readSample(org: string): Promise<Sample | undefined> {
  const { items: sites } = await api.call('GET /v1/orgs/{org}/sites', {
    params: { org },
    query: { limit: 100 },
  })
  const site = sites.find(({ slug }) => slug === 'sample') ?? sites[0]
  if (site === undefined) return undefined
  try {
    const integration = await api.call('GET /v1/integrations/{integration}', {
      params: { integration: name },
    })
    const echo = await api
      .call('GET /v1/integrations/{integration}', { params: { integration: 'echo' } })
      .catch(() => undefined)
    const installation = await findInstallation(org)
    const installed = installation !== undefined && (await isInSite(installation, site))
    return { integration, site, receiver: echo?.urls.publicEndpoint ?? '', installed }
  } catch (error) {
    if (isApiError(error, 'not_found')) return undefined
    throw error
  }
}

async function findInstallation(org: string): Promise<string | undefined> {
  const query = { organization: org, integration: name, limit: 1 }
  return (await api.call('GET /v1/installations', { query })).items[0]?.id
}

async function isInSite(installation: string, site: Site): Promise<boolean> {
  const params = { integration: name, installation }
  const address = 'GET /v1/integrations/{integration}/installations/{installation}/sites'
  for await (const one of api.all(address, { params }))
    if (one.site === site.id) return one.status === 'active'
  return false
}

/** A step that failed half way is continued: what is installed already stays. @returns the signing secret of the site */
export async function installIn(
  org: string,
  integration: Integration,
  site: Site,
  url: string,
): Promise<string> {
  const address = 'POST /v1/integrations/{integration}/installations'
  const { version, scopes } = integration
  const installation =
    (await findInstallation(org)) ??
    (
      await api.call(address, {
        params: { integration: name },
        body: { organization: org, scopes, ...(version && { version: version.number }) },
      })
    ).id
  const params = { integration: name, installation }
  const { signingSecret } = await api.call(`${address}/{installation}/sites`, {
    params,
    body: { site: site.id },
  })
  await api.call('PATCH /v1/integrations/{integration}/installations/{installation}', {
    params: { ...params, site: site.id },
    headers: { 'if-match': '*' },
    body: { configuration: { webhook_url: url, site_view: true, page_feedback: false } },
  })
  return signingSecret
}

export const sampleView = ({ id, urls }: Site) => ({
  type: 'site_view' as const,
  siteId: id,
  visitor: { anonymousId: 'sample-visitor', userAgent: navigator.userAgent, ip: '203.0.113.7', cookies: {} },
  url: urls.published ?? 'https://docs.example.com/welcome',
})
