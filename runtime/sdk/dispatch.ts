import { type ComputeEvent, computeContent } from './content-source.ts'
import { createContext, type RuntimeContext, type Task } from './context.ts'
import type {
  IntegrationDefinition,
  PublishedScriptHandler,
  VisitorAuthenticationHandler,
} from './definition.ts'
import type { RuntimeEnvironment } from './environment.ts'
import type { HostAccess } from './host-access.ts'
import { renderComponent, type UiRenderEvent } from './ui/render-component.ts'

type Event = { type: string; [field: string]: unknown }
type Answer = Response | { value: unknown } | undefined

/** Runs one dispatch of an integration: `event.type` selects the handler. */
export const createDispatch =
  (definition: IntegrationDefinition) =>
  async (
    event: Event,
    environment: () => RuntimeEnvironment,
    request: Request | undefined,
    host: HostAccess,
  ): Promise<Answer> => {
    const context = createContext(environment, host) as RuntimeContext
    switch (event.type) {
      // Asked by the host alone, of a version that is not deployed yet.
      case 'annex_describe':
        return { value: describe(definition) }
      case 'fetch':
        return answerFetch(definition, request, context)
      case 'fetch_published_script':
        return answerPublishedScript(definition, event, context)
      case 'fetch_visitor_authentication':
        return answerVisitorAuthentication(definition, event, context)
      case 'ui_render':
        return renderComponent(definition.components ?? [], event as UiRenderEvent, context)
      case 'content_compute_revision':
      case 'content_compute_document':
        return computeContent(definition.contentSources ?? [], event as ComputeEvent, context)
      case 'task':
        return runTask(definition, event, context)
      default:
        return runEventHandlers(definition, event, context)
    }
  }

const describe = (definition: IntegrationDefinition) => ({
  events: handledEvents(definition),
  components: (definition.components ?? []).map(({ componentId }) => componentId),
  contentSources: (definition.contentSources ?? []).map(({ sourceId }) => sourceId),
})

const answerFetch = async (
  definition: IntegrationDefinition,
  request: Request | undefined,
  context: RuntimeContext,
): Promise<Answer> => {
  if (definition.fetch === undefined || request === undefined) {
    return new Response('This integration has no fetch handler', { status: 400 })
  }
  return definition.fetch(request, context)
}

const answerPublishedScript = async (
  definition: IntegrationDefinition,
  event: Event,
  context: RuntimeContext,
): Promise<Answer> => {
  const handler = definition.fetch_published_script ?? handlerAmongEvents(definition, event.type)
  if (handler === undefined) return noHandler(event.type)
  const response = await handler(event as Parameters<PublishedScriptHandler>[0], context)
  return (
    response ??
    new Response('/* nothing to run */', { headers: { 'content-type': 'application/javascript' } })
  )
}

const answerVisitorAuthentication = async (
  definition: IntegrationDefinition,
  event: Event,
  context: RuntimeContext,
): Promise<Answer> => {
  const handler = definition.fetch_visitor_authentication ?? handlerAmongEvents(definition, event.type)
  if (handler === undefined) return noHandler(event.type)
  return handler(event as Parameters<VisitorAuthenticationHandler>[0], context)
}

/** Scripts of the first days of the reference platform list such a handler in `events`. */
const handlerAmongEvents = (definition: IntegrationDefinition, type: string) =>
  handlersOf(definition, type)[0] as
    | ((event: unknown, context: RuntimeContext) => Promise<Response>)
    | undefined

const runTask = async (
  definition: IntegrationDefinition,
  event: Event,
  context: RuntimeContext,
): Promise<Answer> => {
  if (definition.task === undefined) return noHandler(event.type)
  await definition.task(event.task as Task, context)
}

/** All handlers of the type run at once, and each to its end. The first error is the dispatch's. */
const runEventHandlers = async (
  definition: IntegrationDefinition,
  event: Event,
  context: RuntimeContext,
): Promise<Answer> => {
  const handlers = handlersOf(definition, event.type)
  // A setup of a site or space reaches a script that knows of installations alone. The environment has the level.
  const isFallback = handlers.length === 0 && setupsOfPlaces.includes(event.type)
  const taken = isFallback ? handlersOf(definition, 'installation_setup') : handlers
  if (taken.length === 0) return noHandler(event.type)
  const given = isFallback ? { ...event, type: 'installation_setup' } : event
  const outcomes = await Promise.allSettled(taken.map(async (handler) => handler(given as never, context)))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

const handledEvents = (definition: IntegrationDefinition): string[] =>
  Object.keys(definition.events ?? {}).filter((type) => handlersOf(definition, type).length > 0)

const setupsOfPlaces = ['site_installation_setup', 'space_installation_setup']

const handlersOf = ({ events = {} }: IntegrationDefinition, type: string) =>
  (Object.hasOwn(events, type) ? [events[type]].flat() : []).filter((handler) => handler !== undefined)

const noHandler = (type: string): Response =>
  new Response(`This integration has no handler for "${type}"`, { status: 406 })
