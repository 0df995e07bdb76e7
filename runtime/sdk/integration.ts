import type { RuntimeContext } from './context.ts'
import type { IntegrationDefinition } from './definition.ts'
import { createDispatch } from './dispatch.ts'
import type { EnvironmentOf, IntegrationTypes, UntypedIntegration } from './environment.ts'
import { type DispatchFunction, dispatchKey } from './host-access.ts'

/** The value of `createIntegration`. A script exports it as default. */
export type Integration = { readonly [dispatchKey]: DispatchFunction }

/** The context of the handlers. `Given` are the generated types of an integration, or a context of the script's own. */
type ContextFor<Given> = Given extends IntegrationTypes ? RuntimeContext<EnvironmentOf<Given>> : Given

/**
 * Defines an integration. A script exports the result as default.
 *
 * @param definition the handlers
 * @returns the integration; a script only exports it
 * @throws TypeError while the script loads, where a handler is no function, or `components` or `contentSources` no list
 */
export const createIntegration = <
  Given extends IntegrationTypes | RuntimeContext<unknown> = UntypedIntegration,
>(
  definition: IntegrationDefinition<ContextFor<Given>>,
): Integration => {
  assertDefinition(definition)
  return { [dispatchKey]: createDispatch(definition as unknown as IntegrationDefinition) as DispatchFunction }
}

const assertDefinition = (definition: object): void => {
  if (typeof definition !== 'object' || definition === null) {
    throw new TypeError('createIntegration takes an object: createIntegration({ fetch, events, … })')
  }
  const given = definition as Record<string, unknown>
  for (const name of ['fetch', 'fetch_published_script', 'fetch_visitor_authentication', 'task']) {
    if (given[name] !== undefined) assertFunction(given[name], name)
  }
  for (const name of ['components', 'contentSources']) {
    if (given[name] !== undefined && !Array.isArray(given[name])) {
      throw new TypeError(`"${name}" of createIntegration is a list`)
    }
  }
  for (const [type, handlers] of Object.entries(given.events ?? {})) {
    for (const handler of [handlers].flat()) {
      if (handler !== undefined) assertFunction(handler, `events.${type}`)
    }
  }
}

const assertFunction = (value: unknown, name: string): void => {
  if (typeof value !== 'function') throw new TypeError(`"${name}" of createIntegration is a function`)
}
