import type { Site as SiteView } from '../../schemas/generated/api/sites.ts'
import type { SecretBox } from '../access/secret-box.ts'
import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { withExternalIds, withExternalIdsOf } from '../db/queries/external-ids.ts'
import { findOrganization } from '../db/queries/organizations.ts'
import { listSites, type Site, type SiteHead } from '../db/queries/places.ts'
import { changePlace, createPlace, deletePlace } from '../places/records.ts'
import { isPerson, organizationOf, originOf } from './caller.ts'
import { idCursor, listPage, toIso } from './list-query.ts'
import type { OnOperation, OperationRequest } from './operations.ts'
import { toPlaceUrls } from './place-urls.ts'
import { visiblePlace } from './visible-records.ts'

type SiteParts = {
  db: Db
  reader: Db
  box: SecretBox
  publicUrl: () => string
}

type SiteRequest = Pick<
  OperationRequest<'GET /v1/orgs/{org}/sites/{site}'>,
  'params' | 'operation' | 'context'
> & {
  caller: Caller
}

/** The sites of an organization. */
export function addSiteRoutes(on: OnOperation, { db, reader, box, publicUrl }: SiteParts): void {
  const view = async (site: Site) =>
    toView(
      { ...(await withExternalIdsOf(reader, site)), isAdaptive: site.adaptiveSchema !== null },
      publicUrl(),
    )

  on('GET /v1/orgs/{org}/sites', async (request) => {
    const organization = await organizationOf(db, request.caller, request.params.org)
    return listPage(request, {
      cursor: idCursor('site'),
      read: async (at) => withExternalIds(db, await listSites(db, organization.id, at)),
      cursorOf: ({ id }) => id,
      toView: (site) => toView(site, publicUrl()),
    })
  })

  on('POST /v1/orgs/{org}/sites', async (request) => {
    const { caller, params, body } = request
    const { id: organizationId } = await organizationOf(db, caller, params.org)
    const site = await createPlace(db, box, 'site', { ...body, organizationId }, originOf(request))
    return view(site)
  })

  on('GET /v1/orgs/{org}/sites/{site}', async (request) => view(await openSite(reader, request)))

  on('PATCH /v1/orgs/{org}/sites/{site}', async (request) => {
    const { id } = await openSite(db, request)
    const changed = await changePlace(db, originOf(request), 'site', id, request.body)
    return view(changed)
  })

  on('DELETE /v1/orgs/{org}/sites/{site}', async (request) => {
    const { id } = await openSite(db, request)
    await deletePlace(db, originOf(request), 'site', id)
    return { object: 'site', id, deleted: {} }
  })
}

/** The site that a request names. */
export async function openSite(db: Db, request: SiteRequest): Promise<Site> {
  const { caller, params } = request
  const organization = isPerson(caller)
    ? await organizationOf(db, caller, params.org)
    : await findOrganization(db, params.org)
  return visiblePlace(db, request, {
    kind: 'site',
    name: params.site,
    ...(organization && { organizationId: organization.id }),
  })
}

function toView(site: SiteHead & { externalIds: string[] }, publicUrl: string): SiteView {
  const { id, organizationId, title, slug, visibility, url, externalIds, origins, isAdaptive } = site
  const [first]: string[] = JSON.parse(origins)
  return {
    object: 'site',
    id,
    title,
    slug,
    organization: organizationId,
    urls: toPlaceUrls(publicUrl, 'site', site, url ?? first),
    adaptiveContent: { enabled: Boolean(isAdaptive) },
    visibility,
    externalIds,
    createdAt: toIso(site.createdAt),
  }
}
