import type Router from '@koa/router'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { ScriptTokens } from '../access/script-tokens.ts'
import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { type Configuration, listInstallations } from '../db/queries/installations.ts'
import { findIntegration, type IntegrationRow, listIntegrations } from '../db/queries/integrations.ts'
import { AnnexError } from '../errors.ts'
import { queueTask, taskSchema } from '../events/tasks.ts'
import { assertSettable } from '../installations/configure.ts'
import { type Deployed, findDeployed, getDeployed } from '../installations/find-deployed.ts'
import { toInstallationView } from '../installations/installation-view.ts'
import type { Suspensions } from '../installations/suspend.ts'
import type { Level as ConfigurationLevel } from '../manifest/settings/check-configuration.ts'
import { settingsSchema } from '../manifest/settings/settings-schema.ts'
import { endpointPath } from '../sandbox/level.ts'
import type { LoadedPlugin } from '../versions/load-plugins.ts'
import { jsonBody } from './body.ts'
import { type Authenticate, assertOperator, assertPerson } from './caller.ts'
import { visibleInstallation } from './visible-records.ts'

export type IntegrationParts = {
  db: Db
  authenticate: Authenticate
  tokens: ScriptTokens
  resume: Suspensions['resume']
  /** Reads all plugin folders and spaces again. */
  reload: () => Promise<LoadedPlugin[]>
  publicUrl: () => string
  wake: () => void
}

const settingsBody = jsonBody<{ level: ConfigurationLevel; configuration: Configuration }>({
  type: 'object',
  required: ['level', 'configuration'],
  additionalProperties: false,
  properties: {
    level: { enum: ['account', 'site', 'space'] },
    configuration: { type: 'object', maxProperties: 200 },
  },
})
const taskBody = jsonBody<{ task: object; schedule?: number }>(taskSchema)

/** Deployed integrations, and the routes for an integration's own token. */
export function addIntegrationRoutes(router: Router, parts: IntegrationParts): void {
  const { db, authenticate, tokens, resume, reload, publicUrl, wake } = parts

  /** Lists the integrations that the caller may install or owns. */
  router.get('/v1/integrations', async (context) => {
    const caller = await authenticate(context)
    const items = []
    for (const row of await listIntegrations(db)) {
      const found = await describe(row, caller)
      if (found !== undefined) items.push(found)
    }
    context.body = { items, count: items.length }
  })

  /** One integration. An unlisted one is found by its name alone. 404 for a private one of another owner. */
  router.get('/v1/integrations/:name', async (context) => {
    const caller = await authenticate(context)
    const row = await findIntegration(db, String(context.params.name))
    const found = row && (await describe(row, caller, true))
    if (found === undefined) throw noIntegration(context.params.name)
    context.body = found
  })

  /** `{ level, configuration }`: checks settings and stores none. 204, or 422 with a detail for each wrong setting. */
  router.post('/v1/integrations/:name/settings/check', async (context) => {
    const caller = await authenticate(context)
    assertPerson(caller)
    const name = String(context.params.name)
    const row = await findIntegration(db, name)
    if (row === undefined || (await describe(row, caller, true)) === undefined) throw noIntegration(name)
    const { level, configuration } = await settingsBody(context)
    assertSettable((await getDeployed(db, name)).manifest, level, configuration)
    context.status = 204
  })

  /** Lifts the suspension of a whole integration, not those of its installations. Its owner only. 409 without one. */
  router.post('/v1/integrations/:name/resume', async (context) => {
    const caller = await authenticate(context)
    assertPerson(caller)
    const row = await findIntegration(db, String(context.params.name))
    const isOwner = caller.kind === 'operator' || caller.organizationId === row?.organizationId
    if (row === undefined || !isOwner) throw noIntegration(context.params.name)
    if (row.suspendedAt === null) throw new AnnexError('conflict', `${row.name} is not suspended.`)
    await resume({ integration: row.name })
    wake()
    context.body = await describe({ ...row, suspendedAt: null }, caller, true)
  })

  /** Lists all installations for the integration's own token, else those of the caller's organization. `?externalId=`. */
  router.get('/v1/integrations/:name/installations', async (context) => {
    const caller = await authenticate(context)
    const integration = String(context.params.name)
    if (
      caller.kind === 'installation' ||
      (caller.kind === 'integration' && caller.integration !== integration)
    ) {
      throw noIntegration(integration)
    }
    const externalId = context.query.externalId
    const organization = caller.kind === 'organization' ? { organizationId: caller.organizationId } : {}
    const manifest = (await findDeployed(db, integration))?.manifest
    const items = (await listInstallations(db, { integration, ...organization }))
      .filter(({ externalIds }) => externalId === undefined || externalIds.includes(String(externalId)))
      .map((installation) => toInstallationView(installation, { caller, manifest, publicUrl: publicUrl() }))
    context.body = { items, count: items.length }
  })

  /** Exchanges an integration's token for a token of one of its installations, valid for an hour. */
  router.post('/v1/integrations/:name/installations/:id/tokens', async (context) => {
    const caller = await authenticate(context)
    const { name, id } = context.params
    if (caller.kind !== 'integration') {
      throw new AnnexError('not_found', `There is no installation ${id} of this integration.`)
    }
    const installation = await visibleInstallation(db, caller, String(name), String(id))
    const { integration, scopes } = caller
    const token = await tokens.issue({
      kind: 'installation',
      integration,
      installationId: installation.id,
      scopes,
    })
    context.status = 201
    context.body = { token }
  })

  /**
   * `{ task, schedule? }`: queues a task for the integration or installation of the token. `schedule` is a delay in seconds.
   * 201; 413 above 512 KiB; 403 for other tokens.
   */
  router.post('/v1/integrations/:name/tasks', async (context) => {
    const caller = await authenticate(context)
    const integration = String(context.params.name)
    const isOwn =
      (caller.kind === 'integration' || caller.kind === 'installation') && caller.integration === integration
    if (!isOwn) throw new AnnexError('forbidden', 'Only an integration may queue tasks, and for itself.')
    const body = await taskBody(context)
    await queueTask(
      db,
      caller.kind === 'installation'
        ? { kind: 'installation', integration, installationId: caller.installationId }
        : { kind: 'integration', integration },
      body,
    )
    wake()
    context.status = 201
    context.body = {}
  })

  /** Reads all plugin folders and spaces again, and answers with the result of each folder. Operators only. */
  router.post('/v1/reload', async (context) => {
    assertOperator(await authenticate(context))
    const items = await reload()
    context.body = { items, count: items.length }
  })

  async function describe(row: IntegrationRow, caller: Caller, byName = false): Promise<object | undefined> {
    const deployed = await findDeployed(db, row.name)
    const isOwner =
      caller.kind === 'operator' ||
      (caller.kind === 'organization' && caller.organizationId === row.organizationId) ||
      ((caller.kind === 'integration' || caller.kind === 'installation') && caller.integration === row.name)
    const visibility = deployed?.manifest.visibility ?? 'private'
    if (!isOwner && (visibility === 'private' || (visibility === 'unlisted' && !byName))) return undefined
    return toView(row, deployed, isOwner && (caller.kind === 'operator' || caller.kind === 'organization'))
  }

  function toView(
    { name, organizationId, installKey, suspendedAt, suspendedReason }: IntegrationRow,
    deployed: Deployed | undefined,
    forOwner: boolean,
  ): object {
    const { version, manifest } = deployed ?? {}
    return {
      object: 'integration',
      name,
      title: manifest?.title ?? name,
      description: manifest?.description ?? '',
      organization: organizationId,
      visibility: manifest?.visibility ?? 'private',
      scopes: manifest?.scopes ?? [],
      version: version === undefined ? null : { number: version.number, digest: version.digest },
      configurations: settingsSchemas(manifest),
      urls: { publicEndpoint: publicUrl() + endpointPath({ kind: 'integration', integration: name }) },
      // The install link of an unlisted integration has this key: its owner may share it, a script may not.
      ...(forOwner && { installKey }),
      ...(forOwner &&
        suspendedAt !== null && {
          suspension: { reason: suspendedReason, since: new Date(suspendedAt).toISOString() },
        }),
    }
  }
}

/** The JSON Schema of each level that has settings, for forms. */
const settingsSchemas = (manifest: Manifest | undefined): object =>
  Object.fromEntries(
    Object.entries(manifest?.configurations ?? {}).map(([level, declared]) => [
      level,
      settingsSchema(declared),
    ]),
  )

const noIntegration = (name: unknown): AnnexError =>
  new AnnexError('not_found', `There is no integration ${name} that this token may see.`)
