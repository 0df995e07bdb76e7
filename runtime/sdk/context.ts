import { type ApiClient, createApiClient } from './api/client.ts'
import type { IntegrationTypes, RuntimeEnvironment, UntypedIntegration } from './environment.ts'
import type { HostAccess } from './host-access.ts'

const longestTaskDelaySeconds = 86_400

/** A payload of `queueTask`: it reaches the `task` handler as it was queued. */
export type Task = { type?: string; [field: string]: unknown }

/** What every handler gets as its last argument. */
export type RuntimeContext<Environment = RuntimeEnvironment> = {
  environment: Environment
  /** Speaks with the installation's token, and where there is none with the integration's. */
  api: ApiClient
  integration: {
    /** Speaks with the integration's token. */
    api: ApiClient
    /** Runs the `task` handler in `schedule` seconds (0 to 86400). Survives a restart of the host. */
    queueTask(options: { task: Task; schedule?: number }): Promise<void>
    /**
     * Has the host send `event` to `url` as a signed webhook, retried as its schedule says. `created` is false
     * where this event was already owed to this URL.
     */
    queueDelivery(options: {
      url: string
      event: { type: string; eventId: string; [field: string]: unknown }
    }): Promise<{ id: string; created: boolean }>
  }
  /** Keeps the sandbox at work for this handler until the promise has settled. */
  waitUntil(promise: Promise<unknown>): void
}

/** The context of an integration with generated types. */
export type ContextOf<Integration extends IntegrationTypes = UntypedIntegration> = RuntimeContext<
  RuntimeEnvironment<Integration>
>

type Environment = RuntimeEnvironment<IntegrationTypes>
type Context = RuntimeContext<Environment>

/** What the getters below know of their dispatch. */
const made = Symbol('made for')
type MadeFor = {
  environment: () => Environment
  host: HostAccess
  api: ApiClient | undefined
  integration: Context['integration'] | undefined
}
type Made = { [made]: MadeFor }

/**
 * The context of one dispatch. Its getters are its own properties, so that a copy (`{ ...context, … }`) has all of it, and
 * the same functions in all contexts: written into an object literal they would give each context a shape of its own,
 * which took V8 a fifth of a dispatch, and left something behind in its old generation each time.
 *
 * @param environment reads it. Many handlers never look at it, so it is not read before one does.
 */
export const createContext = (environment: () => Environment, host: HostAccess): Context => {
  const madeFor: MadeFor = { environment, host, api: undefined, integration: undefined }
  const context = {
    [made]: madeFor,
    waitUntil: (promise: Promise<unknown>) => host.waitUntil(promise),
  }
  defineProperty(context, 'environment', environmentGetter)
  defineProperty(context, 'api', apiGetter)
  defineProperty(context, 'integration', integrationGetter)
  return context as unknown as Context
}

const { defineProperty } = Object

const getter = <T>(get: (this: Made) => T) => ({ get, enumerable: true, configurable: true })

const environmentGetter = getter(function () {
  return this[made].environment()
})

const apiGetter = getter(function () {
  const { environment, api } = this[made]
  if (api !== undefined) return api
  const { apiEndpoint, apiTokens } = environment()
  const token = apiTokens?.installation ?? apiTokens?.integration
  const client = createApiClient({ endpoint: apiEndpoint, token })
  this[made].api = client
  return client
})

const integrationGetter = getter(function () {
  this[made].integration ??= createIntegrationAccess(this[made])
  return this[made].integration
})

const createIntegrationAccess = ({ environment, host }: MadeFor): Context['integration'] => {
  let client: ApiClient | undefined
  return {
    get api() {
      const { apiEndpoint, apiTokens } = environment()
      client ??= createApiClient({ endpoint: apiEndpoint, token: apiTokens?.integration })
      return client
    },
    async queueTask({ task, schedule = 0 }) {
      if (!Number.isInteger(schedule) || schedule < 0 || schedule > longestTaskDelaySeconds) {
        throw new RangeError(
          `"schedule" of queueTask is whole seconds from 0 to ${longestTaskDelaySeconds}, not ${schedule}`,
        )
      }
      await host.call('task', { task, schedule })
    },
    async queueDelivery({ url, event }) {
      // A URL object is welcome, too.
      return (await host.call('delivery', { url: `${url}`, event })) as { id: string; created: boolean }
    },
  }
}
