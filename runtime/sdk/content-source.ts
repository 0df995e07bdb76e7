import type { RuntimeContext } from './context.ts'

/** The input of a content source: `props` are those of the block or page that uses it. */
export type ContentInput = { props: Record<string, unknown>; [field: string]: unknown }

/** A source of content that an integration computes: a tree of pages, and the document of each. */
export type ContentSource<Context = RuntimeContext> = {
  sourceId: string
  /** Computes the tree of pages. */
  getRevision(input: ContentInput, context: Context): unknown
  /** Computes the document of one page. Without it, a request for a document is answered with 406. */
  getPageDocument?(input: ContentInput & { document?: unknown }, context: Context): unknown
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

/** Answers a `content_compute_…` event with what the source named by `event.sourceId` computes. */
export const computeContent = async (
  sources: ContentSource[],
  event: { type: string; [field: string]: unknown },
  context: RuntimeContext,
): Promise<Response | { value: unknown }> => {
  const source = sources.find(({ sourceId }) => sourceId === event.sourceId)
  if (source === undefined) {
    return new Response(`There is no content source "${String(event.sourceId)}"`, { status: 404 })
  }
  const input = (event.input ?? { props: {} }) as ContentInput
  if (event.type === 'content_compute_revision') return { value: await source.getRevision(input, context) }
  if (source.getPageDocument === undefined) {
    return new Response(`The content source "${source.sourceId}" computes no documents`, { status: 406 })
  }
  return { value: await source.getPageDocument(input, context) }
}
