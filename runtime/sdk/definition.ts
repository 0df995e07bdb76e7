import type { ContentSource } from './content-source.ts'
import type { RuntimeContext, Task } from './context.ts'
import type { AnyEvent, EventOf, KnownEvents } from './events.ts'
import type { Component } from './ui/component.ts'

type Awaitable<T> = T | Promise<T>

/** Answers a request to a public endpoint. `request.url` has the whole address, with the path of the endpoint. */
export type FetchHandler<Context = RuntimeContext> = (
  request: Request,
  context: Context,
) => Awaitable<Response>

/** Handles events of one type. An event is retried where a handler throws or rejects. */
export type EventHandler<Type extends string = string, Context = RuntimeContext> = (
  event: EventOf<Type>,
  context: Context,
) => unknown

/** Answers with the script of a published site. `undefined` stands for a script that does nothing. */
export type PublishedScriptHandler<Context = RuntimeContext> = (
  event: AnyEvent & { type: 'fetch_published_script'; siteId: string },
  context: Context,
) => Awaitable<Response | undefined>

/**
 * Answers a visitor of a site that asks for a sign-in, mostly with a redirect. `location` is the path of the page that the
 * visitor asked for. `action` is `logout` where the visitor signs out. `cookies` are those that the script has set for the
 * path `/v1/integrations/NAME/installations/ID/sites/ID/visitor-auth` of its site, by name.
 */
export type VisitorAuthenticationHandler<Context = RuntimeContext> = (
  event: AnyEvent & {
    type: 'fetch_visitor_authentication'
    siteId: string
    location?: string
    action?: 'logout'
    cookies?: Record<string, string>
  },
  context: Context,
) => Awaitable<Response>

/**
 * Handles what `queueTask` stored. A task is retried where the handler throws or rejects. `Queued` is the type of the tasks
 * that the script queues.
 */
export type TaskHandler<Context = RuntimeContext, Queued = Task> = (task: Queued, context: Context) => unknown

type OneOrMore<T> = T | T[]

/** The handlers of an integration. Each is optional. */
export type IntegrationDefinition<Context = RuntimeContext> = {
  /** Requests to the public endpoints. Without it, they are answered with 400. */
  fetch?: FetchHandler<Context>
  fetch_published_script?: PublishedScriptHandler<Context>
  fetch_visitor_authentication?: VisitorAuthenticationHandler<Context>
  /** Events by type: a handler, or a list of handlers that run at once. */
  events?: {
    [Type in keyof KnownEvents]?: OneOrMore<EventHandler<Type, Context>>
  } & { [type: string]: OneOrMore<(event: never, context: Context) => unknown> | undefined }
  components?: Component<Context>[]
  contentSources?: ContentSource<Context>[]
  /**
   * Handles tasks that `queueTask` stored: a `TaskHandler`. Its parameter may state the type of the script's tasks, which Annex
   * does not check.
   */
  task?(task: Task, context: Context): unknown
}
