/**
 * What an endpoint belongs to: an integration as a whole, an installation, or its site or space installation.
 * A dispatch sees the settings of its level and of the levels above it.
 */
export type Level =
  | { kind: 'integration'; integration: string }
  | { kind: 'installation'; integration: string; installationId: string }
  | { kind: 'site' | 'space'; integration: string; installationId: string; targetId: string }

export const endpointPrefix = '/x/'

/** The path of a level's public endpoint. Decided here: `/x/NAME[/inst_…[/sites/site_…|/spaces/space_…]]`. */
export function endpointPath(level: Level): string {
  const base = `${endpointPrefix}${level.integration}`
  switch (level.kind) {
    case 'integration':
      return base
    case 'installation':
      return `${base}/${level.installationId}`
    default:
      return `${base}/${level.installationId}/${level.kind}s/${level.targetId}`
  }
}

const pattern =
  /^\/x\/(?<integration>[a-z0-9]+(?:-[a-z0-9]+)*)(?:\/(?<installation>inst_[0-9a-f-]{36})(?:\/(?<kind>site|space)s\/(?<target>(?:site|space)_[0-9a-f-]{36}))?)?(?=\/|$)/

/**
 * The level that a request's path names. What follows the endpoint's path is the script's own.
 *
 * @returns undefined when the path is that of no endpoint
 */
export function parseEndpointPath(path: string): Level | undefined {
  const { integration, installation, kind, target } = pattern.exec(path)?.groups ?? {}
  if (integration === undefined) return undefined
  if (installation === undefined) return { kind: 'integration', integration }
  if (kind === undefined || target === undefined) {
    return { kind: 'installation', integration, installationId: installation }
  }
  return { kind: kind as 'site' | 'space', integration, installationId: installation, targetId: target }
}
