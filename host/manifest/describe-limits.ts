import type { Manifest, Scope } from '../../schemas/generated/manifest.ts'
import { permissionsOf } from './permissions.ts'

/**
 * What a version cannot do, in sentences for the installer. A sentence that the wall or a missing permission does not keep
 * true would be worse than none.
 */
export function describeLimits(manifest: Manifest): string[] {
  const lacks = (...scopes: Scope[]): boolean => !scopes.some((scope) => manifest.scopes.includes(scope))
  return [
    'Reach sites and spaces in which it is not installed.',
    'Reach an organization that has not installed it.',
    'See members and tokens of the organization, or settings of other integrations.',
    // A script in the pages of a site sees what its visitors see, and sends it where it likes.
    ...(lacks('site:script:inject') ? describeWithoutInjection(manifest, lacks) : []),
    ...(lacks('space:content:write') ? ['Change the content of a space.'] : []),
  ]
}

function describeWithoutInjection(manifest: Manifest, lacks: (...scopes: Scope[]) => boolean): string[] {
  return [
    'Run JavaScript in the pages of a site.',
    ...(lacks('space:content:read', 'space:content:write') ? ['Read the content of a space.'] : []),
    ...(lacks('site:views:read', 'page:feedback:read', 'site:visitor:auth')
      ? ['Learn of the visits of a site.']
      : []),
    ...describeHosts(manifest),
  ]
}

function describeHosts(manifest: Manifest): string[] {
  if (manifest.script === undefined) return ['Send data anywhere: it has no script.']
  const permissions = permissionsOf(manifest)
  const hosts = permissions.filter(({ kind }) => kind === 'host')
  if (hosts.some(({ name }) => name === '*')) return []
  const isTyped = permissions.some(({ kind }) => kind === 'delivery')
  if (isTyped) return ['Send data to a host that neither its permissions nor its settings name.']
  return [
    hosts.length === 0
      ? 'Send data to another host.'
      : 'Send data to a host that its permissions do not name.',
  ]
}
