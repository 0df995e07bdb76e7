import type { Middleware } from 'koa'
import { AnnexError } from '../errors.ts'
import { splitRequestTarget } from '../http/request-target.ts'
import { type LevelRef, parseEndpointPath } from '../sandbox/level-ref.ts'

const belowLocalhost = /^(?<labels>.+)\.localhost\.?(?::\d+)?$/i

/**
 * Keeps a host name below `localhost` for one endpoint: NAME, or INSTALLATION, or PLACE.INSTALLATION. Such a name leads to the machine
 * of its browser alone, so it serves development. The endpoint keeps its path, and shares no host name with the console.
 *
 * @throws AnnexError `not_found` for every other address at such a name, unless PUBLIC_URL has it
 */
export function separateHosts(publicUrl: () => string): Middleware {
  return ({ req }, next) => {
    const host = req.headers.host ?? ''
    const labels = belowLocalhost.exec(host)?.groups?.labels
    if (labels === undefined || host.toLowerCase() === new URL(publicUrl()).host) return next()
    const level = parseEndpointPath(splitRequestTarget(req.url ?? '/').path)
    if (level !== undefined && labels.toLowerCase() === labelsOf(level).toLowerCase()) return next()
    throw new AnnexError(
      'not_found',
      `${host} has one endpoint alone, at its own path: /x/NAME at NAME.localhost, /x/NAME/inst_… at inst_….localhost. Open all else at ${publicUrl()}.`,
    )
  }
}

function labelsOf(level: LevelRef): string {
  if (level.kind === 'integration') return level.integration
  return level.kind === 'installation' ? level.installationId : `${level.placeId}.${level.installationId}`
}
