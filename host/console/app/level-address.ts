/** An installation, or its site or space installation, as an address of the console names it. */
export type LevelName = { org: string; installation: string; place?: Place | undefined }
export type Place = { kind: 'site' | 'space'; id: string }

/** The address of a level in the console, with a tab. */
export function pathOf({ org, installation, place }: LevelName, tab = ''): string {
  const level = place === undefined ? '' : `/${place.kind}s/${place.id}`
  return `/orgs/${org}/installations/${installation}${level}${tab && `/${tab}`}`
}

/** What follows the installation in an address: a site or space, and a tab. */
export function parseRest(rest: string): { place?: Place; tab: string } {
  const [kind, id, ...more] = rest.split('/').filter((part) => part !== '')
  if ((kind === 'sites' || kind === 'spaces') && id !== undefined) {
    return { place: { kind: kind === 'sites' ? 'site' : 'space', id }, tab: more.join('/') }
  }
  return { tab: rest.replace(/^\/|\/$/g, '') }
}
