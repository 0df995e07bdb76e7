import { createScriptTokens, type ScriptCaller } from '../../../host/access/script-tokens.ts'
import { createSecretBox } from '../../../host/access/secret-box.ts'
import manifestSchema from '../../../schemas/manifest.schema.json' with { type: 'json' }
import { agreementTo } from '../../support/agreement.ts'
import { type Annex, type Json, startAnnex, until } from '../../support/annex.ts'
import { createPng } from '../../support/create-png.ts'
import { createNamedPage, join } from '../../support/own-page.ts'
import { writePlugin } from '../../support/plugin-folder.ts'
import { startReceiver } from '../../support/receiver.ts'
import { createMake, type Make } from './fresh.ts'

export const scopes: readonly string[] = manifestSchema.$defs.scope.enum

/** The parameters of a path. */
export type Params = Record<string, string>

/** The records that the parameters of a path name, and where they lie for the callers of the matrix. */
export type RecordSet = { name: 'own' | 'sibling' | 'foreign' | 'unagreed'; params: Params }

/**
 * `sibling`: another integration in the own organization. `foreign`: the own integration in another organization.
 * `unagreed`: another integration there.
 */
export type RecordSetName = RecordSet['name']

type PersonRole = 'reader' | 'editor' | 'admin' | 'operator'

export type World = {
  annex: Annex
  recordSets: Record<RecordSetName, RecordSet>
  /** Ids of the other organization: no answer to the own one shows them. */
  foreignIds: string[]
  make: Make
  /** A token of a script. Default: the installation in the own records, with all scopes. */
  scriptToken: (given?: {
    kind?: 'installation' | 'integration'
    scopes?: readonly string[]
  }) => Promise<string>
  /** Signs the tokens of scripts. */
  scriptKey: Uint8Array
  people: Record<PersonRole, string>
  /** Cookies of people who are signed in, each with one membership in the own organization. */
  sessions: Record<PersonRole, string>
  close: () => Promise<void>
}

export const key = Buffer.alloc(32, 7)

/** Queues a delivery, and a task that is due tomorrow, for each request. It answers choices, a component and a content source. */
const script = `import { createComponent, createContentSource, createIntegration } from '@annex/runtime'
export default createIntegration({
  components: [createComponent({ componentId: 'card', render: () => ({ type: 'block', children: [] }) })],
  contentSources: [
    createContentSource({
      sourceId: 'menu',
      getRevision: () => ({ pages: [] }),
      getPageDocument: () => ({ nodes: [] }),
    }),
  ],
  fetch: async (request, { integration }) => {
    if (request.url.endsWith('/choices')) return Response.json([{ label: 'One', value: 'one' }])
    const url = new URL(request.url).searchParams.get('url')
    await integration.queueTask({ task: { type: 'later' }, schedule: 86400 })
    return Response.json(await integration.queueDelivery({ url, event: { type: 'told' } }))
  },
})`

const properties = {
  label: { type: 'string', title: 'Label', description: 'A text.' },
  choice: { type: 'string', title: 'Choice', description: 'One of several.', completion_url: '/choices' },
  account: {
    ...{ type: 'button', title: 'Account', description: 'A connection.' },
    ...{ button_text: 'Connect', callback_url: '/oauth' },
  },
}

const configurations = { account: { properties }, site: { properties }, space: { properties } }

export const plugin = {
  script,
  scopes: [...scopes],
  // JSON is YAML.
  more: `icon: icon.png\nblocks: [{ id: card, title: Card }]\nconfigurations: ${JSON.stringify(configurations)}`,
  files: { 'icon.png': createPng(1, 1) },
}

/** Two organizations, `home` and `acme`; two public integrations in both. */
export async function createWorld(): Promise<World> {
  const ends = new AsyncDisposableStack()
  const annex = await startAnnex({
    plugins: { asks: plugin, other: plugin, leaves: {} },
    flags: { SECRET_KEY: key.toString('base64') },
  })
  ends.defer(annex.close)
  const receiver = await startReceiver(200)
  ends.defer(receiver.close)
  const post = async (path: string, body: object): Promise<Json> => {
    const { status, text, json } = await annex.api('POST', path, body)
    if (status >= 300) throw new Error(`POST ${path}: ${text}`)
    return json
  }
  await post('/v1/orgs', { subdomain: 'acme', title: 'Acme' })
  writePlugin(annex.pluginsDir, 'theirs', { script, visibility: 'private', organization: 'acme' })
  await post('/v1/reload', {})

  /** A site, a space with a page, a member and a token, and an integration that is installed there, with its history. */
  async function createRecordSet(name: RecordSetName, org: string, integration: string): Promise<RecordSet> {
    const space = (await post(`/v1/orgs/${org}/spaces`, { slug: name, title: name })).id
    const page = 'hello'
    await putPage(space, page, integration)
    const { revision } = (await annex.api('GET', `/v1/spaces/${space}`)).json
    const site = (await post(`/v1/orgs/${org}/sites`, { slug: name, title: name })).id
    const member = (await post(`/v1/orgs/${org}/members`, { email: `${name}@example.com`, role: 'reader' }))
      .id
    const token = (await post(`/v1/orgs/${org}/tokens`, { role: 'reader', label: name })).id
    const path = `/v1/integrations/${integration}/installations`
    const { id: installation, urls } = await post(path, {
      organization: org,
      ...(await agreementTo(annex, integration)),
    })
    await post(`${path}/${installation}/sites`, { site })
    await post(`${path}/${installation}/spaces`, { space })
    const queued = await fetch(`${urls.publicEndpoint}?url=${receiver.url}`)
    const { id: delivery } = (await queued.json()) as { id: string }
    const { json } = await until(
      () => annex.api('GET', `/v1/deliveries/${delivery}`),
      ({ json }) => json.state === 'delivered',
    )
    const jobs = await annex.api('GET', `/v1/jobs?state=due&kind=task&installation=${installation}`)
    const request = queued.headers.get('x-request-id')
    const { items } = (await annex.api('GET', `/v1/receipts?request=${request}`)).json
    const history = {
      receipt: String(items[0].id),
      delivery,
      receiver: json.receiver,
      job: jobs.json.items[0].id,
    }
    await annex.api('PUT', `/v1/orgs/${org}/sites/${site}/adaptive-schema`, {
      jsonSchema: { type: 'object', properties: {} },
    })
    const more = { source: 'menu', version: '1' }
    const records = { org, site, space, page, revision, member, token, integration, installation }
    return { name, params: { ...records, ...history, ...more } }
  }

  const putPage = (space: string, page: string, integration: string) =>
    annex.api('PUT', `/v1/spaces/${space}/content/page/${page}`, {
      ...{ title: 'Hello', markdown: `# Hello\n\n{% @${integration}/card %}` },
    })

  const own = await createRecordSet('own', 'home', 'asks')
  const sibling = await createRecordSet('sibling', 'home', 'other')
  const foreign = await createRecordSet('foreign', 'acme', 'asks')
  const unagreed = await createRecordSet('unagreed', 'acme', 'other')
  const tokenOf = async (role: string) => (await post('/v1/orgs/home/tokens', { role, label: role })).token
  const sessionOf = async (role: string) => {
    const members = '/v1/orgs/home/members'
    const { id } = await post(members, { email: `${role}-session@example.com`, role })
    const { link } = await post(`${members}/${id}/invitation`, {})
    const page = createNamedPage(annex.url)
    const { status, json } = await join(page, link)
    if (status !== 201) throw new Error(JSON.stringify(json))
    return [...page.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }
  const scriptKey = createSecretBox(key).deriveKey('script tokens')
  const tokens = createScriptTokens(scriptKey)
  return {
    annex,
    scriptKey,
    make: createMake(annex),
    recordSets: { own, sibling, foreign, unagreed },
    foreignIds: [foreign, unagreed].flatMap(({ params }) =>
      Object.values(params).filter((id) => /^[a-z]+_[0-9a-f-]{36}$/.test(id)),
    ),
    scriptToken({ kind = 'installation', scopes: given = scopes } = {}) {
      const installationId = own.params.installation ?? ''
      const caller: ScriptCaller =
        kind === 'integration'
          ? { kind, integration: 'asks', scopes: given }
          : { kind, integration: 'asks', installationId, scopes: given }
      return tokens.issue(caller)
    },
    people: {
      reader: await tokenOf('reader'),
      editor: await tokenOf('editor'),
      admin: await tokenOf('admin'),
      operator: (await post('/v1/tokens', { label: 'matrix' })).token,
    },
    sessions: {
      reader: await sessionOf('reader'),
      editor: await sessionOf('editor'),
      admin: await sessionOf('admin'),
      operator: await sessionOf('operator'),
    },
    close: () => ends.disposeAsync(),
  }
}
