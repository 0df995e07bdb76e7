import type { Context } from 'koa'
import type { Compute, Render, Rendered } from '../../schemas/generated/api/dispatches.ts'
import type { Db } from '../db/db.ts'
import { authenticateVisitor } from '../dispatches/authenticate-visitor.ts'
import { computeDocument, computeRevision } from '../dispatches/compute-content.ts'
import { createPublishedScripts } from '../dispatches/published-scripts.ts'
import { isOfSettings } from '../dispatches/render-component.ts'
import { readCookies } from '../endpoints/endpoint-headers.ts'
import { loadsVary, refuseLoads } from '../endpoints/refused-loads.ts'
import { sendAnswer } from '../endpoints/send-answer.ts'
import { setUpAfterAction } from '../installations/configure.ts'
import { toRef } from '../installations/level-settings.ts'
import type { PrepareDispatch, PreparedLevel } from '../installations/prepare-dispatch.ts'
import type { LevelRef } from '../sandbox/level-ref.ts'
import { isPerson } from './caller.ts'
import type { OnOperation } from './operations.ts'
import { askingOf, type RenderParts, renderForPage } from './render.ts'
import { type LevelRequest, openLevel } from './visible-records.ts'

type DispatchParts = RenderParts & {
  db: Db
  prepareDispatch: Pick<PrepareDispatch, 'prepare'>
}

/** Questions to the script of a level, whose answers go back to the caller. */
export function addDispatchRoutes(on: OnOperation, parts: DispatchParts): void {
  const { db, prepareDispatch } = parts
  const getPublishedScript = createPublishedScripts(parts)

  on('POST /v1/integrations/{integration}/installations/{installation}/render', render)

  on(
    'POST /v1/integrations/{integration}/installations/{installation}/content-sources/{source}/revision',
    async (request) =>
      computeRevision(parts, await prepare(request), sourceOf(request), askingOf(parts, request.context)),
  )

  on(
    'POST /v1/integrations/{integration}/installations/{installation}/content-sources/{source}/document',
    async (request) =>
      computeDocument(parts, await prepare(request), sourceOf(request), askingOf(parts, request.context)),
  )

  on(
    'GET /v1/integrations/{integration}/installations/{installation}/sites/{site}/script',
    async ({ params, context }) => {
      refuseLoads(context.req)
      const script = await getPublishedScript(
        await prepareDispatch.prepare(toSite(params)),
        askingOf(parts, context),
      )
      const { body, contentType, etag, maxAgeSeconds } = script
      context.set({ ...inert, etag, 'content-type': contentType })
      context.set('cache-control', maxAgeSeconds === 0 ? 'no-cache' : `public, max-age=${maxAgeSeconds}`)
      context.body = body
      if (context.fresh) context.status = 304
    },
  )

  on(
    'GET /v1/integrations/{integration}/installations/{installation}/sites/{site}/visitor-auth',
    async ({ params, query, context }) => {
      refuseLoads(context.req)
      const level = toSite(params)
      const prepared = await prepareDispatch.prepare(level)
      const asking = { ...askingOf(parts, context), visitor: context.res }
      const visit = { ...query, cookies: readCookies(context.req.headers.cookie) }
      await authenticateVisitor(parts, prepared, visit, asking, ({ head, body }) => {
        const { requestId } = asking
        sendAnswer(context.res, { head, body, level, requestId })
        context.respond = false
      })
    },
  )

  async function render(request: LevelRequest & { body: Render; context: Context }): Promise<Rendered> {
    const { body, context } = request
    const { level, manifest, caller } = await openLevel(db, request)
    const prepared = await prepareDispatch.prepare(toRef(level))
    const rendering = renderForPage(parts, prepared, body, context)
    if (body.action !== undefined && isOfSettings({ manifest }, body.componentId) && isPerson(caller)) {
      // The script may have stored something before it failed.
      await rendering.catch(() => undefined)
      await setUpAfterAction(db, manifest, level)
    }
    return rendering
  }

  async function prepare(request: LevelRequest): Promise<PreparedLevel> {
    return prepareDispatch.prepare(toRef((await openLevel(db, request)).level))
  }
}

const sourceOf = ({ params, body }: { params: { source: string }; body: Compute }) => ({
  sourceId: params.source,
  ...body,
})

type SiteParams = { integration: string; installation: string; site: string }

const toSite = ({ integration, installation, site }: SiteParams): LevelRef => ({
  kind: 'site',
  integration,
  installationId: installation,
  placeId: site,
})

/** A page at the address of a published script has no origin, and loads nothing. Sites of other origins may include it. */
const inert = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
  vary: loadsVary,
  'access-control-allow-origin': '*',
}
