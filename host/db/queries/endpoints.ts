import type { Db } from '../db.ts'
import { forEachRow } from '../each-row.ts'
import { createId } from '../ids.ts'
import { jsonRows, jsonTexts, rawRows } from '../sql.ts'

/**
 * - `active`: what is owed to it is sent
 * - `paused`: it waits until somebody resumes the endpoint
 * - `disabled`: Annex has given it up; what is owed to it fails, and can be sent again after a resume
 */
export type EndpointState = 'active' | 'paused' | 'disabled'

/** Where an installation's deliveries go that one level's secret signs. */
export type Endpoint = {
  id: string
  installationId: string
  /** Whose secret signs: `installation`, `site:ID` or `space:ID`. */
  signedBy: string
  url: string
  state: EndpointState
  reason: string | null
  /** Since when no attempt has been answered with 2xx, in Unix ms; `null` while all is well. */
  failingSince: number | null
  ordered: boolean
  createdAt: number
  updatedAt: number
}

export type EndpointKey = Pick<Endpoint, 'installationId' | 'signedBy' | 'url'>

export const endpointKeyColumns = { installationId: 'text', signedBy: 'text', url: 'text' } as const

/** Those of the endpoints that nothing was owed to before. */
export async function ensureEndpoints(db: Db, keys: readonly EndpointKey[]): Promise<void> {
  const now = Date.now()
  const columns = { id: 'text', ...endpointKeyColumns, createdAt: 'bigint' } as const
  const rows = keys.map(({ installationId, signedBy, url }) => ({
    ...{ id: createId('ep'), installationId, signedBy, url, createdAt: now },
  }))
  // `where true`: without it SQLite takes what follows for a join's condition.
  await db.raw(
    `insert into endpoints (id, installation_id, signed_by, url, state, ordered, created_at, updated_at)
     select id, installation_id, signed_by, url, 'active', false, created_at, created_at
     from ${jsonRows(db, 'new_endpoint', columns)} where true
     on conflict (installation_id, signed_by, url) do nothing`,
    [JSON.stringify(rows)],
  )
}

/** What whoever owes needs to know of an endpoint. */
export type Place = EndpointKey & Pick<Endpoint, 'id' | 'state' | 'reason' | 'ordered'>

/** Endpoints by their keys. A resume of a paused one waits for the transaction, and finds the jobs that it stores. */
export async function findPlaces(
  db: Db,
  keys: readonly EndpointKey[],
): Promise<(key: EndpointKey) => Place | undefined> {
  const distinct = new Map(
    keys.map(({ installationId, signedBy, url }) => {
      const key = { installationId, signedBy, url }
      return [textOf(key), key]
    }),
  )
  const places = await rawRows<Place>(
    db,
    `select endpoints.id, endpoints.installation_id, endpoints.signed_by, endpoints.url, endpoints.state,
       endpoints.reason, endpoints.ordered
     from ${jsonRows(db, 'given', endpointKeyColumns)} join endpoints on endpoints.installation_id = given.installation_id
       and endpoints.signed_by = given.signed_by and endpoints.url = given.url`,
    [JSON.stringify([...distinct.values()])],
  )
  const found = new Map(places.map((place) => [textOf(place), place]))
  const paused = places.filter(({ state }) => state === 'paused')
  // Only these: a lock of all of them would make each commit wait for those of other hosts that note how endpoints do.
  const ids = paused.map(({ id }) => id)
  const resumed = ids.length === 0 ? [] : await findUnpaused(db, ids)
  for (const place of paused) if (resumed.includes(place.id)) place.state = 'active'
  return (key) => found.get(textOf(key))
}

const textOf = ({ installationId, signedBy, url }: EndpointKey): string =>
  `${installationId} ${signedBy} ${url}`

/** And whose it is. */
export type OwnedEndpoint = Endpoint & { organizationId: string }

/** By their ids. */
export async function findEndpoints(db: Db, ids: readonly string[]): Promise<Map<string, OwnedEndpoint>> {
  const rows = await rawRows<OwnedEndpoint>(
    db,
    `select endpoints.*, installations.organization_id from endpoints
     join installations on installations.id = endpoints.installation_id where endpoints.id in ${jsonTexts(db)}`,
    [JSON.stringify(ids)],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

const healthColumns = { id: 'text', failingSince: 'bigint' } as const

/** Of an endpoint that fails, or that answers. */
export type Health = { id: string; failingSince: number | null }

/** Writes only where it changes: most attempts go as the one before them. */
export const updateHealth = forEachRow<Health>({
  ...{ table: 'endpoints', columns: healthColumns, key: ['id'] },
  sql: (given) =>
    `update endpoints set failing_since = given.failing_since from ${given} where endpoints.id = given.id
       and (endpoints.failing_since is null) <> (given.failing_since is null)`,
})

/** @returns the ids of those that are not paused. A concurrent resume comes before this, or waits for the transaction. */
export async function findUnpaused(db: Db, ids: readonly string[]): Promise<string[]> {
  const rows: Pick<Endpoint, 'id' | 'state'>[] = await db('endpoints')
    .whereIn('id', ids)
    .select('id', 'state')
    .forShare()
  // Not a condition of the statement: it would lock only the endpoints that are not paused.
  return rows.flatMap(({ id, state }) => (state === 'paused' ? [] : [id]))
}

/** @returns whether it was active until now */
export async function disableEndpoint(db: Db, id: string, reason: string): Promise<boolean> {
  const change = { state: 'disabled', reason, updatedAt: Date.now() }
  return (await db('endpoints').where({ id, state: 'active' }).update(change)) === 1
}
