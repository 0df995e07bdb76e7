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

/**
 * The context of one dispatch.
 *
 * @param environment reads it. Many handlers never look at it, so it is not read before one does.
 */
export const createContext = (
  environment: () => RuntimeEnvironment<IntegrationTypes>,
  host: HostAccess,
): RuntimeContext<RuntimeEnvironment<IntegrationTypes>> => {
  let installationClient: ApiClient | undefined
  let integrationClient: ApiClient | undefined
  return {
    get environment() {
      return environment()
    },
    get api() {
      const { apiEndpoint, apiTokens } = environment()
      const token = apiTokens?.installation ?? apiTokens?.integration
      installationClient ??= createApiClient({ endpoint: apiEndpoint, token })
      return installationClient
    },
    integration: {
      get api() {
        const { apiEndpoint, apiTokens } = environment()
        integrationClient ??= createApiClient({ endpoint: apiEndpoint, token: apiTokens?.integration })
        return integrationClient
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
    },
    waitUntil: (promise) => host.waitUntil(promise),
  }
}
