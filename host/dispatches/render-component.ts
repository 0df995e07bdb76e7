import type { Render, Rendered } from '../../schemas/generated/api/dispatches.ts'
import { isJsonObject } from '../assert-json.ts'
import { installationOf } from '../db/queries/levels.ts'
import { AnnexError } from '../errors.ts'
import type { LevelRecords } from '../installations/build-environment.ts'
import type { PreparedLevel } from '../installations/prepare-dispatch.ts'
import { type Asking, type AskParts, askScript, maxAgeOf, readJsonAnswer } from './ask-script.ts'

/**
 * Renders a component of a level's script. The first render has no `state`: the component makes its initial one. The component that asks for a level's settings also gets the installations as
 * properties. They hold credentials, so the answer leaves them out.
 *
 * @returns `maxAgeSeconds`: how long the answer may be cached
 * @throws AnnexError `not_found` when the script has no such component, or the error that ended the dispatch
 */
export function renderComponent(
  parts: AskParts,
  prepared: PreparedLevel,
  { componentId, props = {}, state, context, action }: Render,
  asking: Asking,
): Promise<{ rendered: Rendered; maxAgeSeconds: number }> {
  const settings = isOfSettings(prepared.records, componentId) ? installationsOf(prepared) : undefined
  const question = {
    type: 'ui_render',
    componentId,
    props: { ...props, ...settings },
    context: {
      ...shownIn(settings !== undefined),
      ...withoutFacts(context),
      ...recordIdsOf(prepared.records),
    },
    ...(state && { state }),
    ...(action && { action }),
  }
  return askScript(parts, prepared, question, asking, async (outcome) => {
    const { headers, value } = await readJsonAnswer(outcome)
    const rendered = toRendered(value, Object.keys(settings ?? {}))
    return { rendered, maxAgeSeconds: maxAgeOf(headers.get('cache-control')) }
  })
}

/** True for a component that the manifest names in `configurations`. */
export function isOfSettings({ manifest }: Pick<LevelRecords, 'manifest'>, componentId: string): boolean {
  return Object.values(manifest.configurations ?? {}).some((level) => level.componentId === componentId)
}

const installations = ['installation', 'siteInstallation', 'spaceInstallation']

function installationsOf({ environment }: PreparedLevel): Record<string, unknown> {
  const all = Object.entries(JSON.parse(environment) as Record<string, unknown>)
  return Object.fromEntries(all.filter(([name]) => installations.includes(name)))
}

/** The defaults of a caller that does not say where the component is shown. */
const shownIn = (isOfSettings: boolean): Record<string, unknown> => ({
  type: isOfSettings ? 'configuration' : 'document',
  theme: 'light',
  ...(!isOfSettings && { editable: false }),
})

/** Facts of the host, by which a script decides what to show. Where the host has none, the script gets none. */
const facts: ReadonlySet<string> = new Set(['organizationId', 'installationId', 'siteId', 'spaceId', 'user'])

const withoutFacts = (context: Record<string, unknown> = {}): Record<string, unknown> =>
  Object.fromEntries(Object.entries(context).filter(([name]) => !facts.has(name)))

const recordIdsOf = ({ own }: LevelRecords): Record<string, unknown> => ({
  ...(own && { organizationId: installationOf(own).organizationId }),
  ...(own?.above && { [`${own.kind}Id`]: own.placeId }),
})

/** @throws AnnexError `script_failed` */
function toRendered(answer: Record<string, unknown>, hidden: readonly string[]): Rendered {
  const { type, returnValue, state = {}, props = {}, element = null } = answer
  if (type === 'complete') return { type, returnValue }
  if (type !== 'element' || !isJsonObject(state) || !isJsonObject(props) || !isTree(element)) {
    throw new AnnexError('script_failed', 'The script answered with no element tree.')
  }
  const shown = Object.fromEntries(Object.entries(props).filter(([name]) => !hidden.includes(name)))
  return { type, state, props: shown, element }
}

type Fields = Record<string, unknown>

const isTree = (value: unknown): value is Fields | unknown[] | null => typeof value === 'object'
