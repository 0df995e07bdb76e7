import type { ConnectLink } from '../../schemas/generated/api/connections.ts'
import type { Db } from '../db/db.ts'
import { AnnexError } from '../errors.ts'
import { levelOf, toLevel } from '../installations/level-settings.ts'
import { type OAuthFlows, refused } from '../installations/oauth-flows.ts'
import { hasDotSegments } from '../manifest/checks/check-meaning.ts'
import { cookieOf } from './guard-flows.ts'
import { toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'
import { type OpenLevel, openLevel } from './visible-records.ts'

export type ConnectionParts = { db: Db; flows: OAuthFlows; publicUrl: () => string }

const operations = {
  account: { button: 'connectInstallationSetting', path: 'connectInstallation' },
  site: { button: 'connectSiteInstallationSetting', path: 'connectSiteInstallation' },
  space: { button: 'connectSpaceInstallationSetting', path: 'connectSpaceInstallation' },
} as const

/** Starting connections with providers. A person gets a link, and opens it in a browser. */
export function addConnectionRoutes(on: OnOperation, { db, flows, publicUrl }: ConnectionParts): void {
  for (const kind of ['account', 'site', 'space'] as const) {
    on(operations[kind].button, async (request) => {
      const level = await openLevel(db, request)
      return createLink(level, callbackUrlOf(level, request.params.property))
    })

    on(operations[kind].path, async (request) => {
      const level = await openLevel(db, request)
      const { path } = request.body
      if (hasDotSegments(path)) throw new AnnexError('body_invalid', 'The path has "." or ".." segments.')
      return createLink(level, path)
    })
  }

  on('openConnectLink', async ({ params, context }) => {
    // A browser that only guesses what its user will open must not use the link up.
    if (context.get('sec-purpose') !== '') throw refused('Open this link in a browser.')
    const opened = await flows.open(params.token)
    context.set('set-cookie', cookieOf(opened, publicUrl()))
    context.set('referrer-policy', 'no-referrer')
    context.set('location', publicUrl() + opened.flow.endpoint + opened.flow.path)
    context.body = ''
  })

  async function createLink(level: OpenLevel, path: string): Promise<ConnectLink> {
    const { token, expiresAt } = await flows.createLink(toLevel(level), path)
    return {
      object: 'connect-link',
      url: `${publicUrl()}/connect/${token}`,
      expiresAt: toIso(expiresAt),
    }
  }
}

/** @throws AnnexError `not_found` */
function callbackUrlOf({ manifest, installation, target }: OpenLevel, name: string): string {
  const properties = manifest.configurations?.[levelOf(target)]?.properties ?? {}
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined
  if (property?.type === 'button') return property.callback_url
  const buttons = Object.keys(properties).filter((other) => properties[other]?.type === 'button')
  const hint = buttons.length === 0 ? 'It has none.' : `It has: ${buttons.join(', ')}.`
  throw new AnnexError(
    'not_found',
    `The ${levelOf(target)} of ${installation.id} has no button "${name}". ${hint}`,
  )
}
