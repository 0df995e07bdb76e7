import type { Rendered } from '../../../../schemas/generated/api/dispatches.ts'
import { api } from '../api.ts'
import { reasonAgainst } from '../person.ts'
import { me } from '../state.ts'
import type { Fields } from './tree.ts'

/** Whose script renders: an installation, or a site or space of it. */
export type ComponentLevel = {
  integration: string
  installation: string
  level?: { site: string } | { space: string } | undefined
  /** The stored block of a page: a reader sees it, and its actions are refused. */
  ofPage?: { org: string; space: string; page: string; line: number } | undefined
}

export type Action = Fields & { action: string }

export type Question = {
  componentId: string
  props: Fields
  context: Fields
  /** None: the component makes its initial state. */
  state?: Fields | undefined
  action?: Action | undefined
}

export const renderOperation = 'renderInstallationComponent'

/** Answers that their components let a page keep. */
const kept = new Map<string, { until: number; rendered: Rendered }>()
const mostKept = 100

/** Asks a script for a component. The answer to a first question is kept as long as the component allows it. */
export async function renderComponent(
  of: ComponentLevel,
  question: Question,
  signal?: AbortSignal,
): Promise<Rendered> {
  const { integration, installation, level } = of
  const { state, action, ...given } = question
  const ofInstallation = `${integration} ${installation} `
  // What one person may see is not shown to the next.
  const key = ofInstallation + JSON.stringify([me.value?.account?.id, level, of.ofPage, given])
  const isFirst = state === undefined && action === undefined
  const found = kept.get(key)
  if (isFirst && found !== undefined && found.until > Date.now()) return found.rendered
  // An action may change what all components of the script show.
  if (action !== undefined) forget(ofInstallation)
  const response = await (of.ofPage === undefined
    ? api.open('POST /v1/integrations/{integration}/installations/{installation}/render', {
        params: { integration, installation, ...level },
        body: { ...given, ...(state && { state }), ...(action && { action }) },
        ...(signal && { signal }),
      })
    : openStored(of.ofPage, question, signal))
  const rendered = (await response.json()) as Rendered
  if (action !== undefined) forget(ofInstallation)
  else if (isFirst) keep(key, rendered, response.headers.get('cache-control'))
  return rendered
}

/** A reader asks the script for nothing that an editor has not written. */
function openStored(
  { org, space, page, line }: NonNullable<ComponentLevel['ofPage']>,
  { state, action, context }: Question,
  signal: AbortSignal | undefined,
): Promise<Response> {
  if (state !== undefined || action !== undefined) throw new Error(reasonAgainst(renderOperation))
  return api.open('POST /v1/spaces/{space}/content/page/{page}/blocks/{line}', {
    params: { space, page, line: String(line) },
    query: { organization: org },
    body: { theme: context.theme === 'dark' ? 'dark' : 'light' },
    ...(signal && { signal }),
  })
}

function keep(key: string, rendered: Rendered, cacheControl: string | null): void {
  const seconds = Number(/^max-age=(\d+)$/.exec(cacheControl ?? '')?.[1] ?? 0)
  kept.delete(key)
  if (seconds === 0) return
  kept.set(key, { until: Date.now() + seconds * 1000, rendered })
  const [oldest] = kept.keys()
  if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
}

function forget(ofInstallation: string): void {
  for (const key of kept.keys()) if (key.startsWith(ofInstallation)) kept.delete(key)
}

/**
 * The properties that a block gets from a pasted link.
 *
 * @throws ApiError as the render operation
 */
export async function unfurlLink(
  of: ComponentLevel,
  { componentId, url, context = {} }: { componentId: string; url: string; context?: Fields },
): Promise<Fields> {
  const action = { action: '@link.unfurl', url }
  const rendered = await renderComponent(of, { componentId, props: {}, context, action })
  return rendered.type === 'element' ? (rendered.props as Fields) : {}
}
