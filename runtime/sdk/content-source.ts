import type { RuntimeContext } from './context.ts'

/**
 * The input of a content source: `props` are those of the block or page that uses it, `dependencies` the records that it is
 * computed from.
 */
export type ContentInput = { props: Record<string, unknown>; dependencies: Record<string, unknown> }

/** A source of content that an integration computes: a tree of pages, and the document of each. */
export type ContentSource<Context = RuntimeContext> = {
  sourceId: string
  /** Computes the tree of pages. */
  getRevision(input: ContentInput, context: Context): unknown
  /** Computes the document of one page. Without it, a request for a document is answered with 406. */
  getPageDocument?(input: ContentInput, context: Context): unknown
}

/**
 * Defines a content source, to be listed in `contentSources` of `createIntegration`.
 *
 * @param source its id, as the manifest's `contentSources` names it, and its two functions
 * @throws TypeError while the script loads, where `sourceId` is no text or `getRevision` no function
 */
export const createContentSource = <Context = RuntimeContext>(
  source: ContentSource<Context>,
): ContentSource<Context> => {
  if (typeof source?.sourceId !== 'string' || typeof source.getRevision !== 'function') {
    throw new TypeError('createContentSource takes an object with "sourceId" and "getRevision"')
  }
  return source
}

export type ComputeEvent = {
  type: string
  sourceId?: string
  props?: Record<string, unknown>
  dependencies?: Record<string, unknown>
}

/**
 * Answers a `content_compute_…` event of the source named by `event.sourceId`, with JSON: the revision, or `{ document }`. 404
 * for an unknown source.
 */
export const computeContent = async (
  sources: ContentSource[],
  { type, sourceId, props = {}, dependencies = {} }: ComputeEvent,
  context: RuntimeContext,
): Promise<Response> => {
  const source = sources.find((one) => one.sourceId === sourceId)
  if (source === undefined) {
    return new Response(`There is no content source "${String(sourceId)}"`, { status: 404 })
  }
  const input: ContentInput = { props, dependencies }
  if (type === 'content_compute_revision')
    return Response.json((await source.getRevision(input, context)) ?? null)
  if (source.getPageDocument === undefined) {
    return new Response(`The content source "${source.sourceId}" computes no documents`, { status: 406 })
  }
  const document = await source.getPageDocument(input, context)
  return Response.json({ document: document ?? null })
}
