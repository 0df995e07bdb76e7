import type { Context } from 'koa'
import type { Render, Rendered } from '../../schemas/generated/api/dispatches.ts'
import { elementPictures } from '../content/element-pictures.ts'
import { installationOf } from '../db/queries/levels.ts'
import type { Asking, AskParts } from '../dispatches/ask-script.ts'
import { type PictureKeys, pictureRouteOf } from '../dispatches/picture-keys.ts'
import { renderComponent } from '../dispatches/render-component.ts'
import { type Hops, hopsHeader } from '../egress/loop-guard.ts'
import type { PreparedLevel } from '../installations/prepare-dispatch.ts'

export type RenderParts = AskParts & {
  /** Reads from a signed header how many scripts a request has passed. */
  readHops: Hops['read']
  pictureKeys: PictureKeys
}

/** Renders a component for a page, with the addresses of its pictures and the time that the answer may be cached. */
export async function renderForPage(
  parts: RenderParts,
  prepared: PreparedLevel,
  question: Render,
  context: Context,
): Promise<Rendered> {
  const asking = askingOf(parts, context)
  const { rendered, maxAgeSeconds } = await renderComponent(parts, prepared, question, asking)
  if (maxAgeSeconds > 0) context.set('cache-control', `max-age=${maxAgeSeconds}`)
  const { own } = prepared.records
  if (rendered.type !== 'element' || own === undefined) return rendered
  const { id: installation, integration } = installationOf(own)
  const route = pictureRouteOf({ integration, installation })
  const pictures = parts.pictureKeys.sign(route, elementPictures(rendered.element, rendered.state))
  return Object.keys(pictures).length === 0 ? rendered : { ...rendered, pictures }
}

export function askingOf({ readHops }: Pick<RenderParts, 'readHops'>, { req, state }: Context): Asking {
  const hops = readHops(String(req.headers[hopsHeader] ?? ''))
  return { requestId: state.requestId, hops }
}
