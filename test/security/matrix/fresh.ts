import { rmSync } from 'node:fs'
import { agreementTo } from '../../support/agreement.ts'
import type { Annex, Json } from '../../support/annex.ts'
import { writePlugin } from '../../support/plugin-folder.ts'
import type { Params, RecordSet } from './world.ts'

/** Makes a record among these records. @returns its parameters of a path */
export type Make = Record<
  | 'adaptiveSchema'
  | 'installation'
  | 'installLink'
  | 'member'
  | 'operatorToken'
  | 'organization'
  | 'page'
  | 'retired'
  | 'site'
  | 'siteInstallation'
  | 'space'
  | 'spaceInstallation'
  | 'token',
  (records: RecordSet) => Promise<Params>
>

/** New records, for calls that end them. */
export function createMake({ pluginsDir, api }: Annex): Make {
  let made = 0
  const next = (): string => {
    made += 1
    return `fresh-${made}`
  }
  const put = async (method: string, path: string, body: object): Promise<Json> => {
    const { status, text, json } = await api(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${text}`)
    return json
  }
  const post = (path: string, body: object) => put('POST', path, body)
  const base = ({ params: { integration, installation } }: RecordSet) =>
    `/v1/integrations/${integration}/installations/${installation}`
  const make: Make = {
    async adaptiveSchema(records) {
      const { site = '' } = await make.site(records)
      const path = `/v1/orgs/${records.params.org}/sites/${site}/adaptive-schema`
      await put('PUT', path, { jsonSchema: { type: 'object', properties: {} } })
      return { site }
    },
    async installation({ params: { org } }) {
      const path = '/v1/integrations/leaves/installations'
      const { id } = await post(path, { organization: org, ...(await agreementTo({ api }, 'leaves')) })
      return { integration: 'leaves', installation: id }
    },
    installLink: async ({ name, params: { integration } }) => ({
      link: (
        await post(`/v1/integrations/${name === 'foreign' ? 'theirs' : integration}/install-links`, {
          label: next(),
        })
      ).id,
    }),
    member: async ({ params: { org } }) => ({
      member: (await post(`/v1/orgs/${org}/members`, { email: `${next()}@example.com`, role: 'reader' })).id,
    }),
    operatorToken: async () => ({ token: (await post('/v1/tokens', { label: next() })).id }),
    organization: async () => ({ org: (await post('/v1/orgs', { subdomain: next(), title: 'Fresh' })).id }),
    async page({ params: { space } }) {
      const page = next()
      await put('PUT', `/v1/spaces/${space}/content/page/${page}`, { title: page, markdown: '' })
      return { page }
    },
    async retired() {
      const folder = writePlugin(pluginsDir, 'retired', { organization: 'acme' })
      await post('/v1/reload', {})
      rmSync(folder, { recursive: true })
      await post('/v1/reload', {})
      return {}
    },
    site: async ({ params: { org } }) => ({
      site: (await post(`/v1/orgs/${org}/sites`, { slug: next(), title: 'Fresh' })).id,
    }),
    async siteInstallation(records) {
      const { site = '' } = await make.site(records)
      await post(`${base(records)}/sites`, { site })
      return { site }
    },
    space: async ({ params: { org } }) => ({
      space: (await post(`/v1/orgs/${org}/spaces`, { slug: next(), title: 'Fresh' })).id,
    }),
    async spaceInstallation(records) {
      const { space = '' } = await make.space(records)
      await post(`${base(records)}/spaces`, { space })
      return { space }
    },
    token: async ({ params: { org } }) => ({
      token: (await post(`/v1/orgs/${org}/tokens`, { role: 'reader', label: next() })).id,
    }),
  }
  return make
}
