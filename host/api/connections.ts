import type { Context } from 'koa'
import type { ConnectionTarget, ConnectLink } from '../../schemas/generated/api/connections.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { actorOf } from '../access/actor.ts'
import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { findAccount } from '../db/queries/accounts.ts'
import { installationOf, type Level } from '../db/queries/levels.ts'
import type { OAuthFlow } from '../db/queries/oauth-flows.ts'
import { findOrganization } from '../db/queries/organizations.ts'
import { findPlace } from '../db/queries/places.ts'
import { findHolder } from '../db/queries/tokens.ts'
import { transact } from '../db/sql.ts'
import { AnnexError, isAnnexError } from '../errors.ts'
import { sendPage } from '../http/page.ts'
import { auditLevel } from '../installations/audit-level.ts'
import { toRef } from '../installations/level-settings.ts'
import type { PrepareDispatch } from '../installations/prepare-dispatch.ts'
import { hasDotSegments } from '../manifest/checks/check-meaning.ts'
import { describeLevels, propertyOf } from '../manifest/settings/check-configuration.ts'
import { type ConnectQuestion, toConnectPage } from '../oauth/connect-page.ts'
import { cookieOf } from '../oauth/guard-flows.ts'
import { type FlowLevel, type OAuthFlows, refused } from '../oauth/oauth-flows.ts'
import { endpointPath, parseEndpointPath } from '../sandbox/level-ref.ts'
import { isPerson, originOf } from './caller.ts'
import { type FindProviderParts, findProvider } from './find-provider.ts'
import { clip, toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'
import { type LevelRequest, openLevel } from './visible-records.ts'

type ConnectionParts = FindProviderParts & {
  db: Db
  flows: OAuthFlows
  prepareDispatch: Pick<PrepareDispatch, 'prepare'>
}

/** Starting connections with providers. A person gets a link, and opens it in a browser. */
export function addConnectionRoutes(on: OnOperation, parts: ConnectionParts): void {
  const { db, flows, publicUrl } = parts
  on(
    'POST /v1/integrations/{integration}/installations/{installation}/configuration/{property}/connect',
    async (request) => {
      const { level, manifest } = await openLevel(db, request)
      return createLink(request, level, callbackUrlOf(manifest, level, request.params.property))
    },
  )

  on(
    'GET /v1/integrations/{integration}/installations/{installation}/configuration/{property}/connect',
    async (request) => {
      const { level, manifest } = await openLevel(db, request)
      const path = callbackUrlOf(manifest, level, request.params.property)
      return readTarget(request.context, toRef(level), path)
    },
  )

  on('POST /v1/integrations/{integration}/installations/{installation}/connect', async (request) => {
    const { level } = await openLevel(db, request)
    const { path } = request.body
    if (hasDotSegments(path)) throw new AnnexError('body_invalid', 'The path has "." or ".." segments.')
    return createLink(request, level, path)
  })

  on('GET /connect/{token}', async ({ params, context }) => {
    const flow = await flows.look(params.token)
    sendPage(context, toConnectPage(await askAbout(context, flow)))
  })

  on('POST /connect/{token}', async ({ params, context }) => {
    assertFromItsPage(context, publicUrl())
    const opened = await flows.open(params.token)
    context.set('set-cookie', cookieOf(opened, publicUrl()))
    context.set('referrer-policy', 'no-referrer')
    context.set('location', publicUrl() + opened.flow.endpoint + opened.flow.path)
    context.body = ''
  })

  /** The script names the callback address to the provider. Until it does, the address is the one of `createOAuthHandler`. */
  async function readTarget(context: Context, ref: FlowLevel, path: string): Promise<ConnectionTarget> {
    const { integration } = ref
    const usual =
      publicUrl() + endpointPath({ kind: 'integration', integration }) + path.replace(/[?#].*$/, '')
    const answer = { object: 'connection_target', callback: usual } as const
    try {
      const prepared = await parts.prepareDispatch.prepare(ref)
      const provider = await findProvider(context, { level: ref, path, prepared }, parts)
      if (provider === undefined) return answer
      const named = URL.parse(provider.searchParams.get('redirect_uri') ?? '')?.href
      return { ...answer, ...(named !== undefined && { callback: named }), provider: provider.origin }
    } catch (error) {
      if (!isAnnexError(error)) throw error
      return { ...answer, problem: error.message }
    }
  }

  async function createLink(
    request: LevelRequest & { context: Context },
    level: Level,
    path: string,
  ): Promise<ConnectLink> {
    const maker = { actor: actorOf(request.caller), name: await nameOf(db, request.caller) }
    const { token, expiresAt } = await transact(db, async (transaction) => {
      const link = await flows.createLink(transaction, toRef(level), path, maker)
      const after = { flow: link.id, path, expiresAt: toIso(link.expiresAt) }
      await auditLevel(transaction, originOf(request), level, { action: 'connection.link', after })
      return link
    })
    return { object: 'connect-link', url: `${publicUrl()}/connect/${token}`, expiresAt: toIso(expiresAt) }
  }

  async function askAbout(context: Context, { endpoint, path, maker }: OAuthFlow): Promise<ConnectQuestion> {
    const ref = parseEndpointPath(endpoint) as FlowLevel
    const prepared = await parts.prepareDispatch.prepare(ref)
    const { manifest, own } = prepared.records
    const organizationId = own === undefined ? '' : installationOf(own).organizationId
    const organization = await findOrganization(db, organizationId)
    const level = own?.kind === 'account' ? undefined : own
    const place = level && (await findPlace(db, level.kind, organizationId, level.placeId))
    const provider = await findProvider(context, { level: ref, path, prepared }, parts)
    return {
      provider: provider?.host,
      integration: { title: manifest.title, name: manifest.name },
      organization: {
        title: organization?.title ?? '',
        subdomain: organization?.subdomain ?? organizationId,
      },
      place: level && { kind: level.kind, title: place?.title ?? level.placeId },
      maker: maker ?? 'a person whose name was not kept',
    }
  }
}

/** A person as strangers see them: a name alone may be any name. */
async function nameOf(db: Db, caller: Caller): Promise<string> {
  if (!isPerson(caller)) return caller.integration
  if ('sessionId' in caller) {
    const account = await findAccount(db, caller.accountId)
    return `${clip(account?.name ?? '')} (${account?.email})`
  }
  const { label, name, email } = (await findHolder(db, caller.tokenId)) ?? {}
  if (email != null) return `${clip(name ?? '')} (${email})`
  return caller.kind === 'operator'
    ? `an operator of this Annex (token “${label}”)`
    : `the holder of the token “${label}”`
}

/**
 * A page of another site could post the form, too. Every browser sends Origin with a form, and no page can set it.
 *
 * @throws AnnexError `flow_refused`
 */
function assertFromItsPage(context: Context, publicUrl: string): void {
  const ownPage = new URL(publicUrl).origin
  const site = context.get('sec-fetch-site')
  if (context.get('origin') === ownPage && (site === '' || site === 'same-origin')) return
  throw refused(`Open this link in a browser, at ${ownPage}, and use the button of its page.`)
}

/** @throws AnnexError `not_found` */
function callbackUrlOf(manifest: Manifest, level: Level, name: string): string {
  const { kind } = level
  const properties = manifest.configurations?.[kind]?.properties ?? {}
  const property = propertyOf(manifest, kind, name)
  if (property?.type === 'button') return property.callback_url
  const buttons = Object.keys(properties).filter((other) => properties[other]?.type === 'button')
  const owner = describeLevels(manifest, kind, name)
  const others = buttons.length === 0 ? 'It has none.' : `It has: ${buttons.join(', ')}.`
  const hint = owner === '' ? others : `It belongs to ${owner}.`
  throw new AnnexError(
    'not_found',
    `The ${kind} of ${installationOf(level).id} has no button "${name}". ${hint}`,
  )
}
