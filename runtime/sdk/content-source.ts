import type { RuntimeContext } from './context.ts'

type Fields = Record<string, unknown>

/** Scripts of the reference platform read the fields of a record unchecked. */
// biome-ignore lint/suspicious/noExplicitAny: any field may be read, as any type
type AnyRecord = any

/** A script may state a dependency by its reference alone: the platform adds the record as `value`. */
type Resolved<Dependency> = Dependency extends { ref: unknown }
  ? Dependency & { value: AnyRecord }
  : Dependency

/**
 * The input of a content source: `props` are those of the block or page that uses it, `dependencies` the records that it is
 * computed from.
 */
export type ContentInput<Props = Fields, Dependencies = Fields> = {
  props: Props
  dependencies: { [Name in keyof Dependencies]: Resolved<Dependencies[Name]> }
}

/**
 * A source of content that an integration computes: a tree of pages, and the document of each. A page may have other
 * properties than the tree.
 */
export type ContentSource<
  Context = RuntimeContext,
  TreeProps = Fields,
  PageProps = TreeProps,
  Dependencies = Fields,
> = {
  sourceId: string
  /** Computes the tree of pages. */
  getRevision(input: ContentInput<TreeProps, Dependencies>, context: Context): unknown
  /** Computes the document of one page. Without it, a request for a document is answered with 406. */
  getPageDocument?(input: ContentInput<PageProps, Dependencies>, context: Context): unknown
}

/**
 * Defines a content source, to be listed in `contentSources` of `createIntegration`. Its type argument is the context.
 *
 * @param source its id, as the manifest's `contentSources` names it, and its two functions
 * @throws TypeError while the script loads, where `sourceId` is no text or `getRevision` no function
 */
export function createContentSource<Context extends RuntimeContext<unknown> = RuntimeContext>(
  source: ContentSource<Context>,
): ContentSource<Context>
/**
 * Its type arguments may also be the properties of the tree, those of a page, the dependencies and the context. Annex does not
 * check that an input has these types.
 */
export function createContentSource<
  TreeProps,
  PageProps = TreeProps,
  Dependencies = Fields,
  Context = RuntimeContext,
>(source: ContentSource<Context, TreeProps, PageProps, Dependencies>): ContentSource<Context>
export function createContentSource(source: ContentSource): ContentSource {
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
