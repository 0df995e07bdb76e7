import type { Context } from 'koa'
import type { SettingOptions } from '../../schemas/generated/api/connections.ts'
import type { ComponentOptions } from '../../schemas/generated/api/dispatches.ts'
import type { Db } from '../db/db.ts'
import type { AskParts } from '../dispatches/ask-script.ts'
import { askOptions } from '../dispatches/setting-options.ts'
import { type Hops, hopsHeader } from '../egress/loop-guard.ts'
import { AnnexError } from '../errors.ts'
import { toRef } from '../installations/level-settings.ts'
import type { PrepareDispatch } from '../installations/prepare-dispatch.ts'
import { endpointPath, type LevelRef, parseEndpointPath } from '../sandbox/level-ref.ts'
import type { OnOperation } from './operations.ts'
import { type LevelRequest, openLevel } from './visible-records.ts'

type ComponentOptionParts = AskParts & {
  db: Db
  prepareDispatch: Pick<PrepareDispatch, 'prepare'>
  readHops: Hops['read']
  publicUrl: () => string
}

/** The choices of a select in a component. The host asks the script for them: a page would send the session of its person. */
export function addComponentOptionRoutes(on: OnOperation, parts: ComponentOptionParts): void {
  const { db, prepareDispatch, readHops, publicUrl } = parts

  on('POST /v1/integrations/{integration}/installations/{installation}/component-options', listOptions)

  async function listOptions(
    request: LevelRequest & { body: ComponentOptions; context: Context },
  ): Promise<SettingOptions> {
    const { source, ...query } = request.body
    const { req, state } = request.context
    const { level } = await openLevel(db, request)
    const asked = toEndpointUrl(source, toRef(level), publicUrl())
    const prepared = await prepareDispatch.prepare(asked.level)
    const hops = readHops(String(req.headers[hopsHeader] ?? ''))
    return askOptions(parts, prepared, { url: asked.url, query }, { requestId: state.requestId, hops })
  }
}

/**
 * An address of the level's endpoint, or of its installation's.
 *
 * Attack: a script names an address of another integration, organization or network, and the person who opens its component
 * asks there in its place.
 *
 * @throws AnnexError `body_invalid`
 */
function toEndpointUrl(source: string, own: LevelRef, publicUrl: string): { level: LevelRef; url: string } {
  const { origin, host } = new URL(publicUrl)
  const isPath = /^\/(?![/\\])/.test(source) && !source.startsWith(`${endpointPath(own)}/`)
  const text = isPath ? endpointPath(own) + source : source
  const url = URL.canParse(text, origin) ? new URL(text, origin) : undefined
  // A script that knows the host alone may have another scheme.
  const level = url?.host === host ? parseEndpointPath(url.pathname) : undefined
  if (url !== undefined && level !== undefined && isOwn(level, own)) {
    return { level, url: origin + url.pathname + url.search }
  }
  throw new AnnexError(
    'body_invalid',
    `The choices cannot be asked for at ${source.slice(0, 200)}: the address is not below ${publicUrl}${endpointPath(own)}.`,
  )
}

const isOwn = (level: LevelRef, own: LevelRef): boolean => {
  const path = endpointPath(level)
  return level.kind !== 'integration' && (path === endpointPath(own) || path === accountPathOf(own))
}

const accountPathOf = (own: LevelRef): string | undefined =>
  own.kind === 'integration' ? undefined : endpointPath({ ...own, kind: 'installation' })
