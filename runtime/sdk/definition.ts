import type { ContentSource } from './content-source.ts'
import type { RuntimeContext, Task } from './context.ts'
import type { AnyEvent, EventOf, KnownEvents, Visitor } from './events.ts'
import type { Component } from './ui/component.ts'

type Awaitable<T> = T | Promise<T>

export type FetchHandler<Context = RuntimeContext> = (
  request: Request,
  context: Context,
) => Awaitable<Response>

export type EventHandler<Type extends string = string, Context = RuntimeContext> = (
  event: EventOf<Type>,
  context: Context,
) => unknown

export type PublishedScriptHandler<Context = RuntimeContext> = (
  event: AnyEvent & { type: 'fetch_published_script' },
  context: Context,
) => Awaitable<Response | undefined>

export type VisitorAuthenticationHandler<Context = RuntimeContext> = (
  event: AnyEvent & { type: 'fetch_visitor_authentication'; location?: string; visitor?: Visitor },
  context: Context,
) => Awaitable<Response>

export type TaskHandler<Context = RuntimeContext> = (task: Task, context: Context) => unknown

type OneOrMore<T> = T | T[]

/** What `createIntegration` is given. */
export type IntegrationDefinition<Context = RuntimeContext> = {
  fetch?: FetchHandler<Context>
  fetch_published_script?: PublishedScriptHandler<Context>
  fetch_visitor_authentication?: VisitorAuthenticationHandler<Context>
  events?: {
    [Type in keyof KnownEvents]?: OneOrMore<EventHandler<Type, Context>>
  } & { [type: string]: OneOrMore<(event: never, context: Context) => unknown> | undefined }
  components?: Component<Context>[]
  contentSources?: ContentSource<Context>[]
  task?: TaskHandler<Context>
}
