import type { Context } from 'koa'
import type { SettingOptions } from '../../schemas/generated/api/connections.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Db } from '../db/db.ts'
import { installationOf, type Level } from '../db/queries/levels.ts'
import type { AskParts } from '../dispatches/ask-script.ts'
import { askOptions, type OptionsQuery } from '../dispatches/setting-options.ts'
import { type Hops, hopsHeader } from '../egress/loop-guard.ts'
import { AnnexError } from '../errors.ts'
import { keepLabel } from '../installations/configure.ts'
import { toRef } from '../installations/level-settings.ts'
import type { PrepareDispatch } from '../installations/prepare-dispatch.ts'
import { describeLevels, propertyOf } from '../manifest/settings/check-configuration.ts'
import { endpointPath } from '../sandbox/level-ref.ts'
import type { OnOperation } from './operations.ts'
import { type LevelRequest, openLevel } from './visible-records.ts'

type SettingOptionParts = AskParts & {
  db: Db
  prepareDispatch: Pick<PrepareDispatch, 'prepare'>
  readHops: Hops['read']
  publicUrl: () => string
}

/** The choices of settings, which scripts answer. */
export function addSettingOptionRoutes(on: OnOperation, parts: SettingOptionParts): void {
  const { db, prepareDispatch, readHops, publicUrl } = parts
  on(
    'GET /v1/integrations/{integration}/installations/{installation}/configuration/{property}/options',
    listOptions,
  )

  async function listOptions(
    request: LevelRequest & { params: { property: string }; query: OptionsQuery; context: Context },
  ): Promise<SettingOptions> {
    const { params, query, context } = request
    const { level, manifest } = await openLevel(db, request)
    const { configuration, settingDetails } = level
    const name = params.property
    const { completionUrl, choices } = choicesOf(manifest, level, name)
    const { req, state } = context
    const hops = readHops(String(req.headers[hopsHeader] ?? ''))
    const path = toRef(level)
    const url = publicUrl() + endpointPath(path) + completionUrl
    const known = Object.hasOwn(settingDetails, name) ? settingDetails[name]?.label : undefined
    try {
      const prepared = await prepareDispatch.prepare(path)
      const found = await askOptions(parts, prepared, { url, query }, { requestId: state.requestId, hops })
      const options = found.options.filter(({ value }) => choices?.includes(value) ?? true)
      const stored = options.find(({ value }) => value === configuration[name])
      if (stored !== undefined && stored.label !== known?.label) await keepLabel(db, level, name, stored)
      return { ...found, options }
    } catch (error) {
      // A form shows what is chosen, also while the provider is down.
      if (known === undefined || known.value !== query.value) throw error
      return { options: [known], stale: true }
    }
  }
}

/** @throws AnnexError `not_found` */
function choicesOf(
  manifest: Manifest,
  level: Level,
  name: string,
): { completionUrl: string; choices: string[] | undefined } {
  const { kind } = level
  const property = propertyOf(manifest, kind, name)
  if (property?.type === 'string' && property.completion_url !== undefined) {
    return { completionUrl: property.completion_url, choices: property.enum }
  }
  const owner = describeLevels(manifest, kind, name)
  const hint = owner === '' ? '' : ` It belongs to ${owner}.`
  throw new AnnexError(
    'not_found',
    `The ${kind} of ${installationOf(level).id} has no setting "${name}" with a completion_url.${hint}`,
  )
}
