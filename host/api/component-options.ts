import type { Context } from 'koa'
import type { SettingOptions } from '../../schemas/generated/api/connections.ts'
import type { ComponentOptions } from '../../schemas/generated/api/dispatches.ts'
import type { Db } from '../db/db.ts'
import type { AskParts } from '../dispatches/ask-script.ts'
import { askOptions } from '../dispatches/setting-options.ts'
import type { Hops } from '../egress/loop-guard.ts'
import { AnnexError } from '../errors.ts'
import { toRef } from '../installations/level-settings.ts'
import type { PrepareDispatch } from '../installations/prepare-dispatch.ts'
import { endpointPath, type LevelRef, parseEndpointPath } from '../sandbox/level-ref.ts'
import type { OnOperation } from './operations.ts'
import { askingOf } from './render.ts'
import { type LevelRequest, openLevel } from './visible-records.ts'

type ComponentOptionParts = AskParts & {
  prepareDispatch: Pick<PrepareDispatch, 'prepare'>
  readHops: Hops['read']
  publicUrl: () => string
}

/** The choices of a select in a component. */
export function addComponentOptionRoutes(on: OnOperation, parts: ComponentOptionParts & { db: Db }): void {
  on('POST /v1/integrations/{integration}/installations/{installation}/component-options', listOptions)

  async function listOptions(
    request: LevelRequest & { body: ComponentOptions; context: Context },
  ): Promise<SettingOptions> {
    const { level } = await openLevel(parts.db, request)
    return askComponentOptions(parts, toRef(level), request.body, request.context)
  }
}

/** The host asks the script for them: a page would send the session of its person. */
export async function askComponentOptions(
  parts: ComponentOptionParts,
  own: LevelRef,
  { source, ...query }: ComponentOptions,
  context: Context,
): Promise<SettingOptions> {
  const asked = toEndpointUrl(source, own, parts.publicUrl())
  const prepared = await parts.prepareDispatch.prepare(asked.level)
  return askOptions(parts, prepared, { url: asked.url, query }, askingOf(parts, context))
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
