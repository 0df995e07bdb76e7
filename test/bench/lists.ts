// Lists of 10,000 records: the first page of 50 items, and the hundredth.
import { createTerminal } from '../../host/cli/terminal.ts'
import { createId } from '../../host/db/ids.ts'
import { openDatabase } from '../../host/db/open-database.ts'
import { createClient } from '../../schemas/client.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { median } from './measure/quantile.ts'
import { describeMachine, printGoals, printTimes } from './report.ts'
import { createFolders, startAnnex } from './servers/start-annex.ts'

const count = 10_000
const pages = 100
const rounds = 30
const at = Date.now()

const terminal = createTerminal(process)
await using ends = new AsyncDisposableStack()
const folders = createFolders()
ends.defer(async () => folders.remove())
writePlugin(folders.pluginsDir, 'wide', {})
const first = await startAnnex(folders)
const { organization, samples } = first
await first.close()
const installation = await insertAll()
const annex = await startAnnex(folders, { RATE_LIMIT_TOKEN: '0' })
ends.defer(annex.close)
const api = createClient({ url: annex.origin, token: annex.token })

const measured: [name: string, times: number[]][] = []

type Page = { next?: { page: string } }
type Read = (query: { page?: string | undefined }) => Promise<Page>

const inOrganization = { params: { org: organization } }
const ofSite = { params: { org: organization, site: samples.site } }
const ofIntegration = { params: { integration: 'wide' } }
const ofInstallation = { params: { integration: 'wide', installation } }
const lists: [name: string, read: Read][] = [
  ['organizations', (query) => api.call('GET /v1/orgs', { query })],
  ['integrations', (query) => api.call('GET /v1/integrations', { query })],
  ['sites of an organization', (query) => api.call('GET /v1/orgs/{org}/sites', { ...inOrganization, query })],
  [
    'spaces of an organization',
    (query) => api.call('GET /v1/orgs/{org}/spaces', { ...inOrganization, query }),
  ],
  ['installations', (query) => api.call('GET /v1/installations', { query })],
  [
    'installations of an integration',
    (query) => api.call('GET /v1/integrations/{integration}/installations', { ...ofIntegration, query }),
  ],
  [
    'sites of an installation',
    (query) =>
      api.call('GET /v1/integrations/{integration}/installations/{installation}/sites', {
        ...ofInstallation,
        query,
      }),
  ],
  [
    'sites of an integration',
    (query) => api.call('GET /v1/integrations/{integration}/sites', { ...ofIntegration, query }),
  ],
  ['views of a site', (query) => api.call('GET /v1/orgs/{org}/sites/{site}/views', { ...ofSite, query })],
]
for (const [name, read] of lists) {
  measured.push([`${name}, first page`, await timesOf(read, undefined)])
  measured.push([`${name}, page ${pages}`, await timesOf(read, await findPage(name, read))])
}
const countViews = () => api.call('GET /v1/orgs/{org}/sites/{site}/views/counts', ofSite)
measured.push(['views of a site, counted by day', await timesOf(countViews, undefined)])

terminal.say(describeMachine().text)
terminal.say(`${count} records of each kind, ${rounds} requests for each page`)
printTimes(terminal, '', measured)
const slowest = Math.max(...measured.map(([, times]) => median(times)))
printGoals(terminal, [{ name: 'the slowest list, p50', value: slowest, unit: 'ms', atMost: 50 }])

async function findPage(name: string, read: Read): Promise<string | undefined> {
  let page: string | undefined
  for (let n = 1; n < pages; n += 1) page = (await read({ page })).next?.page
  if (page === undefined) throw new Error(`The list of ${name} has no page ${pages}.`)
  return page
}

async function timesOf(
  read: (query: { page?: string | undefined }) => Promise<unknown>,
  page: string | undefined,
) {
  const times: number[] = []
  for (let round = -rounds / 3; round < rounds; round += 1) {
    const startedAt = performance.now()
    await read({ page })
    if (round >= 0) times.push(performance.now() - startedAt)
  }
  return times
}

/** @returns an installation that is in all sites */
async function insertAll(): Promise<string> {
  const { db, close } = await openDatabase('', folders.dataDir)
  const each = <Row>(toRow: (n: number) => Row): Row[] =>
    Array.from({ length: count }, (_none, n) => toRow(n))
  const secrets = { signingSecret: 'sealed' }
  try {
    const owners = each((n) => ({ id: createId('org'), subdomain: `org-${n}`, title: `${n}`, createdAt: at }))
    const own = { organizationId: organization, createdAt: at }
    const sites = each((n) => ({
      ...{ id: createId('site'), slug: `site-${n}`, title: `${n}`, publicKey: `pk_${n}`, ...own },
    }))
    const spaces = each((n) => ({ id: createId('space'), slug: `space-${n}`, title: `${n}`, ...own }))
    const integrations = each((n) => ({
      ...{
        name: `many-${n}`,
        folder: `many-${n}`,
        visibility: 'public',
        ...secrets,
        ...own,
      },
    }))
    const level = {
      ...{ status: 'active', configuration: '{}', externalIds: '[]', ...secrets },
      ...{ createdAt: at, updatedAt: at },
    }
    const installations = owners.map(({ id: organizationId }) => ({
      ...{ id: createId('inst'), integration: 'wide', organizationId, createdAt: at },
    }))
    const accounts = installations.map(({ id }) => ({
      ...{ installationId: id, kind: 'account', placeId: '', ...level },
    }))
    const installationId = installations[0]?.id ?? ''
    const siteLevels = sites.map(({ id }) => ({ installationId, kind: 'site', placeId: id, ...level }))
    const events = [...sites, ...sites].map(({ id }, n) => {
      const siteId = n % 2 === 0 ? samples.site : id
      const payload = JSON.stringify({ type: 'site_view', siteId, visitor: { anonymousId: `${n % 500}` } })
      return {
        id: createId('evt'),
        organizationId: organization,
        type: 'site_view',
        siteId,
        payload,
        receivedAt: at - n,
      }
    })
    const tables = { organizations: owners, sites, spaces, integrations, installations }
    for (const [name, rows] of Object.entries({ ...tables, levels: [...accounts, ...siteLevels], events })) {
      await db.transaction((transaction) => transaction.batchInsert(name, rows as object[], 50))
    }
    return installationId
  } finally {
    await close()
  }
}
