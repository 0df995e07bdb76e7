import type { RuntimeContext } from '../context.ts'
import type { Element } from './elements.ts'

export type Props = Record<string, unknown>
export type State = Record<string, unknown>
/** Where a component is shown: `{ type: 'document', … }`, `{ type: 'configuration', … }` and the like. */
export type RenderContext = { type?: string; [field: string]: unknown }
/** What the user did. Built-in actions begin with "@"; any other name is the component's own. */
export type Action = { action: string; [field: string]: unknown }

/** The component on its way through one render. */
export type ComponentElement<P = Props, S = State> = {
  componentId: string
  props: P
  state: S
  context: RenderContext
  /** Lets the answer be cached for `maxAge` seconds. */
  setCache(cache: { maxAge: number }): void
  /** Stands for a value of the state that the page fills in: `{ $state: key }`. */
  dynamicState<Key extends keyof S & string>(key: Key): { $state: Key }
}

export type ActionResult<P = Props, S = State> =
  | { type?: 'element'; props?: P; state?: S }
  | { type: 'complete'; returnValue?: unknown }
  // biome-ignore lint/suspicious/noConfusingVoidType: an action that returns nothing has the type void
  | void

type Awaitable<T> = T | Promise<T>

/** What `createComponent` is given. */
export type ComponentDefinition<P = Props, S = State, Context = RuntimeContext> = {
  componentId: string
  initialState?: S | ((props: P, renderContext: RenderContext, context: Context) => Awaitable<S>)
  action?(
    element: ComponentElement<P, S>,
    action: Action,
    context: Context,
  ): Awaitable<ActionResult<P, S> | undefined>
  render(element: ComponentElement<P, S>, context: Context): Awaitable<Element | null | undefined>
}

/** A component, whatever its props and state: what lists of components hold. */
export type Component<Context = RuntimeContext> = ComponentDefinition<never, never, Context>

/** Defines a component, to be listed in `components`. */
export const createComponent = <P = Props, S = State, _Action = Action, Context = RuntimeContext>(
  definition: ComponentDefinition<P, S, Context>,
): Component<Context> => {
  if (typeof definition?.componentId !== 'string' || typeof definition.render !== 'function') {
    throw new TypeError('createComponent takes an object with "componentId" and "render"')
  }
  return definition as unknown as Component<Context>
}
