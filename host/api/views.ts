import type { Context } from 'koa'
import type { SiteScript, SiteVisit } from '../../schemas/generated/api/views.ts'
import type { Db } from '../db/db.ts'
import { createPublicKey, findSite, findSpace, type Site } from '../db/queries/places.ts'
import { countSiteViews, listSiteViews, type ViewCursor } from '../db/queries/site-views.ts'
import { AnnexError } from '../errors.ts'
import type { PublishEvent } from '../events/publish-event.ts'
import { assertFromSite, createSiteScript, toPageFeedback, toSiteView } from '../events/visit.ts'
import { addressOf } from '../http/visitor.ts'
import { changeSite } from '../places/records.ts'
import { originOf } from './caller.ts'
import { listPage, timeOf, toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'
import { openSite } from './sites.ts'

type ViewParts = {
  db: Db
  reader: Db
  longReader: Db
  publish: PublishEvent
  publicUrl: () => string
  isBehindProxy: boolean
}

const weekMs = 7 * 86_400_000
const scriptSeconds = 300
const preflightSeconds = 600

/** Views and feedback of a site's pages, and the script that sends them. */
export function addViewRoutes(on: OnOperation, parts: ViewParts): void {
  const { db, reader, longReader, publish, publicUrl } = parts

  on('GET /v1/sites/{site}/script.js', async ({ params, context }) => {
    const site = await publicSite(params.site)
    context.type = 'application/javascript'
    context.set('cache-control', `public, max-age=${scriptSeconds}`)
    context.set('cross-origin-resource-policy', 'cross-origin')
    context.set('x-content-type-options', 'nosniff')
    context.body = createSiteScript(site, publicUrl())
    return undefined
  })

  for (const preflight of ['OPTIONS /v1/sites/{site}/views', 'OPTIONS /v1/sites/{site}/feedback'] as const) {
    on(preflight, async ({ params, context }) => {
      const site = await publicSite(params.site)
      if (!allowPage(context, site)) return
      context.set('access-control-allow-methods', 'POST')
      context.set('access-control-allow-headers', 'content-type')
      context.set('access-control-max-age', String(preflightSeconds))
    })
  }

  on('POST /v1/sites/{site}/views', async ({ params, body, context }) => {
    const { site, request } = await openVisit(context, params.site, body)
    const { eventId } = await publish(site.organizationId, toSiteView(site, body, request))
    return { eventId }
  })

  on('POST /v1/sites/{site}/feedback', async ({ params, body, context }) => {
    const { site, request } = await openVisit(context, params.site, body)
    if (body.spaceId !== undefined) await assertOwnSpace(site, body.spaceId)
    const { eventId } = await publish(site.organizationId, toPageFeedback(site, body, request))
    return { eventId }
  })

  on('GET /v1/orgs/{org}/sites/{site}/script', async (request) =>
    toScriptView(await openSite(db, request), publicUrl()),
  )

  on('PUT /v1/orgs/{org}/sites/{site}/script', async (request) => {
    const site = await openSite(db, request)
    const { origins, cookies, newKey } = request.body
    const change = {
      ...(origins !== undefined && { origins: JSON.stringify(origins.map(toUrlOrigin)) }),
      ...(cookies !== undefined && { viewCookies: JSON.stringify(cookies) }),
      ...(newKey === true && { publicKey: createPublicKey() }),
    }
    if (Object.keys(change).length > 0) await changeSite(db, site, change, originOf(request))
    return toScriptView({ ...site, ...change }, publicUrl())
  })

  on('GET /v1/orgs/{org}/sites/{site}/views', async (request) => {
    const { id: siteId } = await openSite(db, request)
    return listPage(request, {
      cursor: viewCursor,
      read: ({ after, limit }) => listSiteViews(longReader, siteId, { before: parseCursor(after), limit }),
      cursorOf: ({ receivedAt, id }) => `${receivedAt}.${id}`,
      toView: ({ id, payload, receivedAt }) => ({
        ...JSON.parse(payload),
        eventId: id,
        at: toIso(receivedAt),
      }),
    })
  })

  on('GET /v1/orgs/{org}/sites/{site}/views/counts', async (request) => {
    const { id: siteId } = await openSite(db, request)
    const { by, limit, from, to } = request.query
    const now = Date.now()
    const between = {
      from: from === undefined ? now - weekMs : timeOf('from', from),
      to: to === undefined ? now + 1 : timeOf('to', to),
    }
    const counts = await countSiteViews(longReader, siteId, { by, limit, ...between })
    const items = counts.map(({ key, ...count }) =>
      by === 'url'
        ? { url: String(key), ...count }
        : { day: toIso(Number(key) * 86_400_000).slice(0, 10), ...count },
    )
    return { items, count: items.length }
  })

  /** @throws AnnexError `not_found` */
  async function publicSite(id: string): Promise<Site> {
    const site = await findSite(reader, id)
    if (site !== undefined) return site
    throw new AnnexError('not_found', `There is no site ${id}.`)
  }

  /** A page reads the answer, also an error, when its URL origin is one of the site's. */
  async function openVisit(context: Context, id: string, visit: SiteVisit) {
    const site = await publicSite(id)
    allowPage(context, site)
    const request = {
      urlOrigin: context.get('origin'),
      userAgent: context.get('user-agent').slice(0, 2048),
      language: context.acceptsLanguages()[0]?.slice(0, 100).replace(/^\*$/, '') ?? '',
      ip: addressOf(context.req, parts.isBehindProxy).slice(0, 64),
    }
    assertFromSite(site, visit, request)
    return { site, request }
  }

  /** @throws AnnexError `not_found` */
  async function assertOwnSpace(site: Site, spaceId: string): Promise<void> {
    if ((await findSpace(reader, spaceId))?.organizationId === site.organizationId) return
    throw new AnnexError('not_found', `The organization of the site ${site.id} has no space ${spaceId}.`)
  }
}

/** Lets a page of the site read the answer. @returns false for a page elsewhere */
function allowPage(context: Context, { origins }: Site): boolean {
  const urlOrigin = context.get('origin')
  context.vary('origin')
  const isAllowed = JSON.parse(origins).includes(urlOrigin)
  if (isAllowed) context.set('access-control-allow-origin', urlOrigin)
  return isAllowed
}

/** @throws AnnexError `body_invalid` */
function toUrlOrigin(given: string): string {
  const urlOrigin = URL.canParse(given) ? new URL(given).origin : 'null'
  if (urlOrigin !== 'null') return urlOrigin
  const message = 'is a list of origins such as https://docs.example.com'
  const details = [{ path: '/origins', message }]
  throw new AnnexError('body_invalid', `The JSON body cannot be used: origins ${message}.`, { details })
}

function toScriptView({ id, publicKey, origins, viewCookies }: Site, publicUrl: string): SiteScript {
  const url = `${publicUrl}/v1/sites/${id}/script.js`
  return {
    ...{ key: publicKey, origins: JSON.parse(origins), cookies: JSON.parse(viewCookies) },
    ...{ url, html: `<script src="${url}" defer></script>` },
  }
}

const viewCursor = /^(\d{1,15})\.(.{1,250})$/

function parseCursor(cursor: string | undefined): ViewCursor | undefined {
  const [, time, id] = viewCursor.exec(cursor ?? '') ?? []
  return time === undefined || id === undefined ? undefined : { receivedAt: Number(time), id }
}
