import { api } from './api.ts'
import { lastOrganization, me } from './state.ts'

/** The organization that the person used last, else the first one. @returns its subdomain */
export async function findFirstOrganization(): Promise<string | undefined> {
  const subdomains = await listSubdomains()
  const last = lastOrganization()
  return subdomains.find((one) => one === last) ?? subdomains[0]
}

async function listSubdomains(): Promise<string[]> {
  if (me.value?.account?.operator !== true)
    return me.value?.memberships?.map(({ organization }) => organization.subdomain) ?? []
  const { items } = await api.call('GET /v1/orgs', { query: { limit: 100 } })
  return items.map(({ subdomain }) => subdomain)
}
