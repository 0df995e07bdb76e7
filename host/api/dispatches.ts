import type { Context } from 'koa'
import type { Compute, Render, Rendered } from '../../schemas/generated/api/dispatches.ts'
import type { Db } from '../db/db.ts'
import type { Asking, AskParts } from '../dispatches/ask-script.ts'
import { authenticateVisitor } from '../dispatches/authenticate-visitor.ts'
import { computeDocument, computeRevision } from '../dispatches/compute-content.ts'
import type { PictureKeys } from '../dispatches/picture-keys.ts'
import { createPublishedScripts } from '../dispatches/published-scripts.ts'
import { isOfSettings, renderComponent } from '../dispatches/render-component.ts'
import { type Hops, hopsHeader } from '../egress/loop-guard.ts'
import { readCookies } from '../endpoints/endpoint-headers.ts'
import { loadsVary, refuseLoads } from '../endpoints/refused-loads.ts'
import { sendAnswer } from '../endpoints/send-answer.ts'
import { setUpAfterAction } from '../installations/configure.ts'
import { toRef } from '../installations/level-settings.ts'
import type { PrepareDispatch, PreparedLevel } from '../installations/prepare-dispatch.ts'
import type { LevelRef } from '../sandbox/level-ref.ts'
import { isPerson } from './caller.ts'
import type { OnOperation } from './operations.ts'
import { type LevelRequest, openLevel } from './visible-records.ts'

type DispatchParts = AskParts & {
  db: Db
  prepareDispatch: Pick<PrepareDispatch, 'prepare'>
  /** Reads from a signed header how many scripts a request has passed. */
  readHops: Hops['read']
  pictureKeys: PictureKeys
}

/** Questions to the script of a level, whose answers go back to the caller. */
export function addDispatchRoutes(on: OnOperation, parts: DispatchParts): void {
  const { db, prepareDispatch, readHops, pictureKeys } = parts
  const getPublishedScript = createPublishedScripts(parts)

  on('POST /v1/integrations/{integration}/installations/{installation}/render', render)

  on(
    'POST /v1/integrations/{integration}/installations/{installation}/content-sources/{source}/revision',
    async (request) =>
      computeRevision(parts, await prepare(request), sourceOf(request), askingOf(request.context)),
  )

  on(
    'POST /v1/integrations/{integration}/installations/{installation}/content-sources/{source}/document',
    async (request) =>
      computeDocument(parts, await prepare(request), sourceOf(request), askingOf(request.context)),
  )

  on(
    'GET /v1/integrations/{integration}/installations/{installation}/sites/{site}/script',
    async ({ params, context }) => {
      refuseLoads(context.req)
      const script = await getPublishedScript(
        await prepareDispatch.prepare(toSite(params)),
        askingOf(context),
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
      const asking = { ...askingOf(context), visitor: context.res }
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
    const ref = toRef(level)
    const prepared = await prepareDispatch.prepare(ref)
    const rendering = renderComponent(parts, prepared, body, askingOf(context))
    if (body.action !== undefined && isOfSettings({ manifest }, body.componentId) && isPerson(caller)) {
      // The script may have stored something before it failed.
      await rendering.catch(() => undefined)
      await setUpAfterAction(db, manifest, level)
    }
    const { rendered, maxAgeSeconds } = await rendering
    if (maxAgeSeconds > 0) context.set('cache-control', `max-age=${maxAgeSeconds}`)
    if (rendered.type !== 'element') return rendered
    const pictures = pictureKeys.addressesIn(rendered.element, ref)
    return Object.keys(pictures).length === 0 ? rendered : { ...rendered, pictures }
  }

  async function prepare(request: LevelRequest): Promise<PreparedLevel> {
    return prepareDispatch.prepare(toRef((await openLevel(db, request)).level))
  }

  function askingOf({ req, state }: Context): Asking {
    const hops = readHops(String(req.headers[hopsHeader] ?? ''))
    return { requestId: state.requestId, hops }
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
