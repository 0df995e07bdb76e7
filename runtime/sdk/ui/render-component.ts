import type { RuntimeContext } from '../context.ts'
import type {
  Action,
  Component,
  ComponentDefinition,
  ComponentElement,
  Props,
  RenderContext,
  State,
} from './component.ts'

export type UiRenderEvent = {
  type: 'ui_render'
  componentId: string
  props?: Props
  state?: State
  context?: RenderContext
  action?: Action
}

type Acted = { type?: string; returnValue?: unknown; props?: Props; state?: State }

/**
 * Answers a `ui_render` event: makes the state, lets the component act, renders it. 404 where there is no
 * component of that name.
 */
export const renderComponent = async (
  components: Component[],
  event: UiRenderEvent,
  context: RuntimeContext,
): Promise<Response> => {
  const component = components.find(({ componentId }) => componentId === event.componentId) as
    | ComponentDefinition
    | undefined
  if (component === undefined) {
    return new Response(`There is no component "${event.componentId}"`, { status: 404 })
  }
  const cache: { maxAge?: number } = {}
  const element = await createElement(component, event, context, cache)
  if (event.action !== undefined && component.action !== undefined) {
    const result = (await component.action(element, event.action, context)) as Acted | undefined
    if (result?.type === 'complete') {
      return Response.json({ type: 'complete', returnValue: result.returnValue })
    }
    element.props = result?.props ?? element.props
    element.state = result?.state ?? element.state
  }
  const tree = await component.render(element, context)
  const { state, props } = element
  return Response.json(
    { type: 'element', state, props, element: tree },
    { headers: cache.maxAge === undefined ? {} : { 'cache-control': `max-age=${cache.maxAge}` } },
  )
}

const createElement = async (
  component: ComponentDefinition,
  event: UiRenderEvent,
  context: RuntimeContext,
  cache: { maxAge?: number },
): Promise<ComponentElement> => {
  const { props = {}, context: renderContext = {} } = event
  return {
    componentId: component.componentId,
    props,
    state: event.state ?? (await initialState(component, props, renderContext, context)),
    context: renderContext,
    setCache({ maxAge }) {
      if (!Number.isInteger(maxAge) || maxAge < 0) {
        throw new RangeError('"maxAge" of setCache is whole seconds from 0')
      }
      cache.maxAge = maxAge
    },
    dynamicState: (key) => ({ $state: key }),
  }
}

const initialState = async (
  component: ComponentDefinition,
  props: Props,
  renderContext: RenderContext,
  context: RuntimeContext,
): Promise<State> => {
  const initial = component.initialState ?? {}
  return typeof initial === 'function' ? await initial(props, renderContext, context) : initial
}
