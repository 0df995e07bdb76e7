import { path } from './api/api-request.ts'
import { type ApiClient, createApiClient } from './api/client.ts'
import type {
  EnvironmentOf,
  IntegrationTypes,
  RuntimeEnvironment,
  Settings,
  UntypedIntegration,
} from './environment.ts'
import type { HostAccess } from './host-access.ts'
import { createLevelStorage, type LevelStorage } from './storage.ts'

const longestTaskDelaySeconds = 86_400

/** The payload of `queueTask`. The `task` handler gets it as it was queued. */
export type Task = { type?: string; [field: string]: unknown }

/** With a second type argument both are settings: of the account, and of a site or space. */
type EnvironmentFor<Given, Place> = [Place] extends [never]
  ? Given
  : Given extends { apiEndpoint: string }
    ? Given
    : RuntimeEnvironment<Given & Settings, Place & Settings>

/**
 * The last argument of every handler. Each dispatch has its own. Its type argument is the environment. With two, they are the
 * settings of an account, and those of a site or space: `RuntimeContext<Account, Place>`.
 */
export type RuntimeContext<Environment = RuntimeEnvironment, Place = never> = {
  /** Settings, secrets, addresses and tokens of the level that the dispatch is for. */
  environment: EnvironmentFor<Environment, Place>
  /** The platform API with the installation's token, or outside of an installation with the integration's. */
  api: ApiClient
  integration: {
    /** The platform API with the integration's token. */
    api: ApiClient
    /**
     * Stores a task. The `task` handler runs in `schedule` seconds (0 to 86,400, 0 by default), after a restart too,
     * and is retried as a webhook is. Rejects with a RangeError for another `schedule`, and with an Error for a
     * task above 512 KiB or 64 levels, or where 1,000 tasks of the installation wait.
     */
    queueTask(options: { task: object; schedule?: number }): Promise<void>
    /**
     * Stores a webhook. The host signs `event`, sends it to `url` and retries it. `created` is false where this
     * event was stored for this URL before. Rejects with an Error outside of an installation, for an event above
     * 512 KiB, for a URL that is not http or https or holds a user name or password, and, where the manifest has
     * `egress`, for a host that is neither declared there nor typed by a person in a setting.
     */
    queueDelivery(options: {
      url: string
      event: { type: string; eventId: string; [field: string]: unknown }
    }): Promise<{ id: string; created: boolean }>
  }
  /** Values that the script keeps for the level of the dispatch. */
  storage: LevelStorage
  /**
   * Keeps the dispatch alive after its answer until the promise has settled, for at most `SANDBOX_WAIT_UNTIL_MS`.
   * The work is not durable: a restart or a crash ends it. `queueTask` is durable.
   */
  waitUntil(promise: Promise<unknown>): void
}

/** The context of an integration with generated types: `ContextOf<Integration>`. */
export type ContextOf<Integration extends IntegrationTypes = UntypedIntegration> = RuntimeContext<
  EnvironmentOf<Integration>
>

type AnyEnvironment = EnvironmentOf<IntegrationTypes>
type Context = RuntimeContext<AnyEnvironment>

/** A function whose last argument is the context, such as a handler. */
export type RuntimeCallback<Input extends unknown[], Result, Context = RuntimeContext> = (
  ...args: [...Input, context: Context]
) => Result

/** The dispatch that the getters below read. */
const made = Symbol('made for')
type MadeFor = {
  environment: () => AnyEnvironment
  host: HostAccess
  api: ApiClient | undefined
  integration: Context['integration'] | undefined
  storage: LevelStorage | undefined
  versions: Map<string, string> | undefined
}
type Made = { [made]: MadeFor }

/**
 * The context of one dispatch. Its getters are its own properties, so that a copy (`{ ...context, … }`) has all of it, and
 * the same functions in all contexts: written into an object literal they would give each context a shape of its own,
 * which took V8 a fifth of a dispatch, and left something behind in its old generation each time.
 *
 * @param environment reads it. Many handlers never look at it, so it is not read before one does.
 */
export const createContext = (environment: () => AnyEnvironment, host: HostAccess): Context => {
  const madeFor: MadeFor = {
    environment,
    host,
    api: undefined,
    integration: undefined,
    storage: undefined,
    versions: undefined,
  }
  const context = {
    [made]: madeFor,
    waitUntil: (promise: Promise<unknown>) => host.waitUntil(promise),
  }
  defineProperty(context, 'environment', environmentGetter)
  defineProperty(context, 'api', apiGetter)
  defineProperty(context, 'integration', integrationGetter)
  defineProperty(context, 'storage', storageGetter)
  return context as unknown as Context
}

const { defineProperty } = Object

const getter = <T>(get: (this: Made) => T) => ({ get, enumerable: true, configurable: true })

const environmentGetter = getter(function () {
  return this[made].environment()
})

const apiGetter = getter(function () {
  const { api } = this[made]
  if (api !== undefined) return api
  const { installation, integration } = this[made].environment().apiTokens ?? {}
  const client = createClient(this[made], installation ?? integration)
  this[made].api = client
  return client
})

const integrationGetter = getter(function () {
  this[made].integration ??= createIntegrationAccess(this[made])
  return this[made].integration
})

const storageGetter = getter(function () {
  this[made].storage ??= createLevelStorage(this[made].host)
  return this[made].storage
})

/** The clients of a dispatch share what it knows of versions: each edit is of the settings that the script has seen. */
const createClient = (madeFor: MadeFor, token: string | undefined): ApiClient => {
  const environment = madeFor.environment()
  madeFor.versions ??= versionsOf(environment)
  const { apiEndpoint: endpoint, integration } = environment
  // As on the other platform: its scripts pass the name on to clients of their own.
  const userAgent = `integration-${integration.name}/${integration.version}`
  return createApiClient({ endpoint, token, userAgent, versions: madeFor.versions })
}

const versionsOf = (environment: AnyEnvironment): Map<string, string> => {
  const { integration, installation, siteInstallation, spaceInstallation } = environment
  const versions = new Map<string, string>()
  if (installation === undefined) return versions
  const base = path`/integrations/${integration.name}/installations/${installation.id}`
  const add = (at: string, version: string | undefined) => {
    if (version !== undefined) versions.set(at, version)
  }
  add(base, installation.configurationVersion)
  if (siteInstallation)
    add(base + path`/sites/${siteInstallation.site}`, siteInstallation.configurationVersion)
  if (spaceInstallation)
    add(base + path`/spaces/${spaceInstallation.space}`, spaceInstallation.configurationVersion)
  return versions
}

const createIntegrationAccess = (madeFor: MadeFor): Context['integration'] => {
  const { environment, host } = madeFor
  let client: ApiClient | undefined
  return {
    get api() {
      client ??= createClient(madeFor, environment().apiTokens?.integration)
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
