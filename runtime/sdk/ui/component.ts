import type { RuntimeContext } from '../context.ts'
import type { Element } from './elements.ts'

export type Props = Record<string, unknown>
export type State = Record<string, unknown>
/** Where a component is shown: `{ type: 'document', … }`, `{ type: 'configuration', … }` or another. */
export type RenderContext = { type?: string; [field: string]: unknown }
/** An action of the user. Names of built-in actions begin with "@"; other names are the component's own. */
export type Action = { action: string; [field: string]: unknown }

/** A component during one render. */
export type ComponentElement<P = Props, S = State> = {
  componentId: string
  props: P
  state: S
  context: RenderContext
  /** Lets the answer be cached for `maxAge` seconds. */
  setCache(cache: { maxAge: number }): void
  /** A reference to a value of the state, which the page fills in: `{ $state: key }`. */
  dynamicState<Key extends keyof S & string>(key: Key): { $state: Key }
}

export type ActionResult<P = Props, S = State> =
  | { type?: 'element'; props?: P; state?: S }
  | { type: 'complete'; returnValue?: unknown }
  // biome-ignore lint/suspicious/noConfusingVoidType: an action that returns nothing has the type void
  | void

type Awaitable<T> = T | Promise<T>

/**
 * The definition that `createComponent` takes. `action` returns the element, other properties and state, or the end of the
 * modal: `{ type: 'complete', returnValue }`.
 */
export type ComponentDefinition<P = Props, S = State, A = Action, Context = RuntimeContext> = {
  componentId: string
  initialState?: S | ((props: P, renderContext: RenderContext, context: Context) => Awaitable<S>)
  action?(
    element: ComponentElement<P, S>,
    action: A,
    context: Context,
  ): Awaitable<ActionResult<P, S> | undefined>
  render(element: ComponentElement<P, S>, context: Context): Awaitable<Element | null | undefined>
}

/** A component with any properties and state, as `components` lists it. */
export type Component<Context = RuntimeContext> = ComponentDefinition<never, never, never, Context>

/**
 * Defines a component, to be listed in `components` of `createIntegration`. Its type arguments are its properties, its state,
 * its actions and its context. Annex does not check that an action has the type that the script states.
 *
 * @param definition its id, as a block or a level's settings name it, and its functions
 * @throws TypeError while the script loads, where `componentId` is no text or `render` no function
 */
export const createComponent = <P = Props, S = State, A = Action, Context = RuntimeContext>(
  definition: ComponentDefinition<P, S, A, Context>,
): Component<Context> => {
  if (typeof definition?.componentId !== 'string' || typeof definition.render !== 'function') {
    throw new TypeError('createComponent takes an object with "componentId" and "render"')
  }
  return definition as unknown as Component<Context>
}
