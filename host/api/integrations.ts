import { basename } from 'node:path'
import type { Context } from 'koa'
import type { MarkdownTree } from '../../schemas/generated/api/common.ts'
import type { Integration } from '../../schemas/generated/api/integrations.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { imageKeyOf } from '../access/install-keys.ts'
import type { ScriptTokens } from '../access/script-tokens.ts'
import type { SecretBox } from '../access/secret-box.ts'
import { hashOf } from '../access/tokens.ts'
import { createLru } from '../cache.ts'
import { toMarkdownTree } from '../content/markdown-tree.ts'
import { placePictures } from '../content/place-pictures.ts'
import { isSameName } from '../db/any-case.ts'
import type { Db } from '../db/db.ts'
import {
  findIntegration,
  type IntegrationRow,
  listVisibleIntegrations,
  toStoredName,
} from '../db/queries/integrations.ts'
import { listInstallationsWithSpaces } from '../db/queries/list-installations.ts'
import { findOrganization } from '../db/queries/organizations.ts'
import { findImage } from '../db/queries/version-images.ts'
import { AnnexError } from '../errors.ts'
import { queueTask } from '../events/tasks.ts'
import { assertSettable } from '../installations/edit-rules.ts'
import {
  createManifestReader,
  type Deployed,
  findDeployed,
  getDeployed,
} from '../installations/find-deployed.ts'
import { toInstallationView, toListed } from '../installations/installation-view.ts'
import type { MissedCalls } from '../installations/missed-calls.ts'
import { OtherSpelling } from '../installations/other-spelling.ts'
import type { Suspensions } from '../installations/suspend.ts'
import { recordAudit } from '../logs/audit.ts'
import { describeLimits } from '../manifest/describe-limits.ts'
import { assetsOf, toAssetUrl } from '../manifest/images.ts'
import { permissionsOf } from '../manifest/permissions.ts'
import { settingsSchema } from '../manifest/settings/settings-schema.ts'
import { listSummaryPictures } from '../manifest/summary-pictures.ts'
import { endpointPath } from '../sandbox/level-ref.ts'
import type { LoadedPlugin } from '../versions/loaded-plugin.ts'
import { type Authenticate, isPerson, originOf } from './caller.ts'
import { readListed } from './integration-filter.ts'
import { idCursor, listPage, nameCursor, toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'
import type { FolderLoad } from './still-loading.ts'
import { toPermission } from './versions.ts'
import { openIntegration, ownsIntegration, reachOf, visibleInstallation } from './visible-records.ts'

/** Another version may have another image at the same address. */
const imageSeconds = 300
const mostMinted = 10_000

type IntegrationParts = {
  db: Db
  reader: Db
  box: SecretBox
  authenticate: Authenticate
  tokens: ScriptTokens
  resume: Suspensions['resume']
  /** Reads all plugin folders and spaces again. */
  reload: () => Promise<LoadedPlugin[]>
  load: () => FolderLoad | undefined
  publicUrl: () => string
  onMissed: MissedCalls['note']
}

/** Deployed integrations, and the operations for an integration's own token. */
export function addIntegrationRoutes(on: OnOperation, parts: IntegrationParts): void {
  const { db, reader, box, authenticate, tokens, resume, reload, publicUrl, onMissed } = parts

  const minted = createLru<string>(mostMinted)

  on('GET /v1/integrations', async (request) => {
    const { own, filter } = await readListed(db, request)
    return listPage(request, {
      cursor: nameCursor,
      read: (at) => listVisibleIntegrations(db, own, filter, at),
      cursorOf: ({ row }) => row.name,
      toView: ({ row, version }) =>
        toView(
          row,
          version && { version, manifest: JSON.parse(version.manifest) },
          ownsIntegration(request.caller, row),
        ),
    })
  })

  on('GET /v1/integrations/{integration}', async ({ caller, params, query }) => {
    const opened = await openIntegration(db, caller, params.integration, query.installKey)
    const owner = await findOrganization(db, opened.row.organizationId)
    return {
      ...toView(opened.row, opened.deployed, opened.isOwner),
      page: {
        ...toInstallationPage(opened.deployed, publicUrl(), imageKeyOf(box, opened.row.name)),
        publishedBy: owner?.title ?? '',
      },
    }
  })

  on('GET /v1/integrations/{integration}/assets/{image}', async ({ params, context }) => {
    const { integration } = params
    const [, key, path] = /^~([\w-]+)\/(.+)$/.exec(params.image) ?? []
    const row = await findIntegration(reader, integration)
    const hasKey = key === imageKeyOf(box, row?.name ?? integration)
    const name = hasKey && path !== undefined ? path : params.image
    const isPublic = row?.visibility === 'public'
    if (!isPublic && !hasKey) await openByToken(context, integration)
    if (row !== undefined && row.name !== integration) throw new OtherSpelling(row.name)
    const image = await findImage(reader, integration, name)
    if (image === undefined)
      throw new AnnexError('not_found', `The deployed version of ${integration} names no image ${name}.`)
    context.type = `image/${image.type}`
    context.etag = image.digest
    context.set('cache-control', `${isPublic ? 'public' : 'private'}, max-age=${imageSeconds}`)
    context.set('content-security-policy', "default-src 'none'; sandbox")
    context.set('cross-origin-resource-policy', 'cross-origin')
    context.set('x-content-type-options', 'nosniff')
    if (context.fresh) {
      context.status = 304
      return
    }
    context.body = Buffer.from(image.base64, 'base64')
  })

  on('POST /v1/integrations/{integration}/settings/check', async ({ caller, params, query, body }) => {
    const { row } = await openIntegration(db, caller, params.integration, query.installKey)
    assertSettable((await getDeployed(db, row.name)).manifest, body.level, body.configuration)
  })

  on('POST /v1/integrations/{integration}/resume', async ({ caller, params, context }) => {
    const row = await findIntegration(db, params.integration)
    const isOwner = caller.kind === 'operator' || caller.organizationId === row?.organizationId
    if (row === undefined || !isOwner) throw noIntegration(params.integration)
    if (row.suspendedAt === null) throw new AnnexError('conflict', `${row.name} is not suspended.`)
    await resume({ integration: row.name }, originOf({ caller, context }))
    return toView({ ...row, suspendedAt: null }, await findDeployed(db, row.name), true)
  })

  on('GET /v1/integrations/{integration}/installations', async (request) => {
    const { caller, params, query } = request
    const integration = await toStoredName(db, params.integration)
    if (caller.kind === 'integration' && caller.integration !== integration)
      throw noIntegration(params.integration)
    const { externalId } = query
    const where = {
      integration,
      ...(caller.kind === 'organization' && { organizationId: caller.organizationId }),
      ...(externalId !== undefined && { externalId }),
      ...(await reachOf(db, request, onMissed)),
    }
    const readManifest = createManifestReader(db)
    const answer = await listPage(request, {
      cursor: idCursor('inst'),
      read: (at) => listInstallationsWithSpaces(db, where, at),
      cursorOf: ({ id }) => id,
      toView: async (installation) => {
        const manifest = await readManifest(installation)
        const viewer = { caller, manifest, publicUrl: publicUrl() }
        return toListed(toInstallationView(installation, viewer), caller)
      },
    })
    // An organization without it learns nothing of a private integration.
    if (answer.count === 0 && isPerson(caller)) await openIntegration(db, caller, params.integration)
    return answer
  })

  on(
    'POST /v1/integrations/{integration}/installations/{installation}/tokens',
    async ({ caller, params, context }) => {
      const found = await visibleInstallation(db, caller, params.integration, params.installation)
      const { integration } = caller
      const agreed = found.manifest?.scopes ?? []
      const scopes = caller.scopes.filter((scope) => agreed.some((one) => one === scope))
      const token = await tokens.issue({
        kind: 'installation',
        integration,
        installationId: found.installation.id,
        // The script that mints a token holds it.
        holder: caller.holder ?? { versionId: found.deployedId ?? '' },
        scopes,
      })
      const { id, organizationId } = found.installation
      // A script asks again and again, and gets the same token for a while.
      if (minted.get(id) !== hashOf(token))
        await recordAudit(db, originOf({ caller, context }), {
          ...{ action: 'token.mint', organizationId, subject: { kind: 'installation', id } },
          after: { scopes },
        })
      minted.set(id, hashOf(token))
      return { token }
    },
  )

  on('POST /v1/integrations/{integration}/tasks', async ({ caller, params, body }) => {
    const { integration } = caller
    if (!isSameName(integration, params.integration)) throw noIntegration(params.integration)
    await queueTask(
      db,
      caller.kind === 'installation'
        ? { kind: 'installation', integration, installationId: caller.installationId }
        : { kind: 'integration', integration, ...(caller.holder && { versionId: caller.holder.versionId }) },
      body,
    )
    return {}
  })

  on('GET /v1/reload', async () => {
    const { folders, ...counts } = parts.load() ?? { loaded: 0, total: 0, folders: new Set<string>() }
    const running = parts.load() !== undefined
    return { object: 'folder_load', running, ...counts, folders: [...folders].map((path) => basename(path)) }
  })

  on('POST /v1/reload', async () => {
    const items = await reload()
    return { items, count: items.length }
  })

  /** @throws AnnexError `not_found`, also without a token: a stranger learns nothing of a private integration */
  async function openByToken(context: Context, integration: string): Promise<void> {
    if (context.get('authorization') === '') throw noIntegration(integration)
    await openIntegration(db, await authenticate(context), integration)
  }

  function toView(
    { name, organizationId, suspendedAt, suspendedReason }: IntegrationRow,
    deployed: Pick<Deployed, 'version' | 'manifest'> | undefined,
    forOwner: boolean,
  ): Integration {
    const { version, manifest } = deployed ?? {}
    const icon = manifest && toIconUrl(manifest)
    return {
      object: 'integration',
      name,
      title: manifest?.title ?? name,
      description: manifest?.description ?? '',
      organization: organizationId,
      visibility: manifest?.visibility ?? 'private',
      ...(icon !== undefined && { icon }),
      categories: manifest?.categories ?? [],
      scopes: manifest?.scopes ?? [],
      version: version === undefined ? null : { number: version.number, digest: version.digest },
      configurations: settingsSchemas(manifest),
      urls: { publicEndpoint: publicUrl() + endpointPath({ kind: 'integration', integration: name }) },
      ...(forOwner &&
        suspendedAt !== null && {
          suspension: { reason: suspendedReason, since: toIso(suspendedAt) },
        }),
    }
  }

  function toIconUrl(manifest: Manifest): string | undefined {
    if (manifest.icon === undefined) return undefined
    return toAssetUrl(assetsOf(manifest, publicUrl(), imageKeyOf(box, manifest.name)), manifest.icon)
  }
}

/** What an installation page shows beside the title: what the installer agrees to, and what the publisher says. */
function toInstallationPage(
  deployed: Deployed | undefined,
  publicUrl: string,
  imageKey: string,
): Omit<NonNullable<Integration['page']>, 'publishedBy'> {
  const manifest = deployed?.manifest
  const assets = manifest === undefined ? '' : assetsOf(manifest, publicUrl, imageKey)
  const toUrl = (path: string) => toAssetUrl(assets, path)
  return {
    ...(manifest?.icon !== undefined && { icon: toUrl(manifest.icon) }),
    previewImages: (manifest?.previewImages ?? []).map(toUrl),
    ...(manifest?.summary !== undefined && {
      summary: manifest.summary,
      summaryTree: drawSummary(manifest, imageKey),
    }),
    categories: manifest?.categories ?? [],
    externalLinks: manifest?.externalLinks ?? [],
    blocks: (manifest?.blocks ?? []).map(({ id, title, description }) => ({
      ...{ id, title },
      ...(description !== undefined && { description }),
    })),
    target: manifest?.target ?? 'all',
    permissions: manifest === undefined ? [] : permissionsOf(manifest).map(toPermission),
    limits: manifest === undefined ? [] : describeLimits(manifest),
    publisher: publisherSentence,
  }
}

/** Its pictures are stored with the version. The host fetches none of another host before anyone has agreed to the integration. */
function drawSummary(manifest: Manifest, imageKey: string): MarkdownTree {
  const { summary = '' } = manifest
  const stored = new Set(listSummaryPictures(summary))
  const assets = assetsOf(manifest, '', imageKey)
  return placePictures(toMarkdownTree(summary), ({ file }) =>
    file !== undefined && stored.has(file) ? toAssetUrl(assets, file) : undefined,
  )
}

const publisherSentence =
  'The publisher has a token of the integration, which can read the settings of this installation and what its scopes allow.'

/** The JSON Schema of each level that has settings, for forms. */
const settingsSchemas = (manifest: Manifest | undefined): Integration['configurations'] =>
  Object.fromEntries(
    Object.entries(manifest?.configurations ?? {}).map(([level, declared]) => [
      level,
      settingsSchema(declared),
    ]),
  )

const noIntegration = (name: string): AnnexError =>
  new AnnexError('not_found', `There is no integration ${name} that you may see.`)
