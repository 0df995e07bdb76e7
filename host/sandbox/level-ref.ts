import type { LevelKey } from '../db/queries/installations.ts'
import { hasDotSegments } from '../manifest/checks/check-meaning.ts'

/**
 * The owner of an endpoint: an integration as a whole, an installation, or its site or space installation.
 * A dispatch sees the settings of its level and of the levels above it.
 */
export type LevelRef =
  | {
      kind: 'integration'
      integration: string
      /** The version that has queued a task: see `chooseVersion`. */
      versionId?: string
    }
  | { kind: 'installation'; integration: string; installationId: string }
  | { kind: 'site' | 'space'; integration: string; installationId: string; placeId: string }

/** The row of the level. */
export const keyOfRef = (ref: Exclude<LevelRef, { kind: 'integration' }>): LevelKey =>
  ref.kind === 'installation'
    ? { installationId: ref.installationId, kind: 'account', placeId: '' }
    : { installationId: ref.installationId, kind: ref.kind, placeId: ref.placeId }

export const endpointPrefix = '/x/'

/** The path of a level's public endpoint: `/x/NAME[/inst_…[/sites/site_…|/spaces/space_…]]`. */
export function endpointPath(level: LevelRef): string {
  const base = `${endpointPrefix}${level.integration}`
  switch (level.kind) {
    case 'integration':
      return base
    case 'installation':
      return `${base}/${level.installationId}`
    default:
      return `${base}/${level.installationId}/${level.kind}s/${level.placeId}`
  }
}

/** The path that signs visitors of a site in: `authenticateVisitor` of the API. */
export const signInPath = (
  integration: string,
  { installationId, placeId }: { installationId: string; placeId: string },
): string => `/v1/integrations/${integration}/installations/${installationId}/sites/${placeId}/visitor-auth`

/** A path with a mistyped id is refused: else the script would answer for the level above. */
const brokenPlace = /^(?:sites|spaces)\/(?:site|space)_/

const pattern =
  /^\/x\/(?<integration>[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*)(?:\/(?<installation>inst_[0-9a-f-]{36})(?:\/(?<kind>site|space)s\/(?<place>(?:site|space)_[0-9a-f-]{36}))?)?(?=\/|$)/

/**
 * The level that a request's path names. The rest of the path belongs to the script.
 *
 * @returns undefined when the path belongs to no endpoint
 */
export function parseEndpointPath(path: string): LevelRef | undefined {
  const match = pattern.exec(path)
  const { integration, installation, kind, place } = match?.groups ?? {}
  if (match === null || integration === undefined || hasDotSegments(path)) return undefined
  const rest = path.slice(match[0].length + 1)
  if (installation === undefined ? rest.startsWith('inst_') : place === undefined && brokenPlace.test(rest)) {
    return undefined
  }
  if (installation === undefined) return { kind: 'integration', integration }
  if (kind === undefined || place === undefined) {
    return { kind: 'installation', integration, installationId: installation }
  }
  return { kind: kind as 'site' | 'space', integration, installationId: installation, placeId: place }
}
