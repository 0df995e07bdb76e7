import { api } from '../../api.ts'
import { readInstallation } from '../../read-installed.ts'
import { listsOf, type PlaceList } from './choices.ts'
import type { Found, Place } from './plan.ts'

/** Reads an integration, its installation in an organization, and the places of the organization that it fits. */
export async function readFound(
  org: string,
  name: string,
  installKey: string | undefined,
  signal: AbortSignal,
): Promise<Found> {
  const [integration, organization, own] = await Promise.all([
    api.call('GET /v1/integrations/{integration}', {
      params: { integration: name },
      query: { installKey },
      signal,
    }),
    api.call('GET /v1/orgs/{org}', { params: { org }, signal }),
    readInstallation(org, name, signal),
  ])
  const lists = listsOf(integration.page?.target)
  const params = own && { integration: integration.name, installation: own.installation.id }
  const [sites, spaces, inSites, inSpaces] = await Promise.all([
    lists.includes('sites') ? readPlaces(org, 'sites', signal) : [],
    lists.includes('spaces') ? readPlaces(org, 'spaces', signal) : [],
    params === null ? new Set<string>() : readSites(params, signal),
    params === null ? new Set<string>() : readSpaces(params, signal),
  ])
  return {
    organization,
    integration,
    own,
    places: { sites, spaces },
    installed: { sites: inSites, spaces: inSpaces },
  }
}

async function readPlaces(org: string, list: PlaceList, signal: AbortSignal): Promise<Place[]> {
  const request = { params: { org }, signal }
  const places: Place[] = []
  const all =
    list === 'sites'
      ? api.all('GET /v1/orgs/{org}/sites', request)
      : api.all('GET /v1/orgs/{org}/spaces', request)
  for await (const { id, slug, title } of all) places.push({ id, slug, title })
  return places
}

type OfInstallation = { integration: string; installation: string }

async function readSites(params: OfInstallation, signal: AbortSignal): Promise<Set<string>> {
  const address = 'GET /v1/integrations/{integration}/installations/{installation}/sites'
  const ids = new Set<string>()
  for await (const { site } of api.all(address, { params, signal })) ids.add(site)
  return ids
}

async function readSpaces(params: OfInstallation, signal: AbortSignal): Promise<Set<string>> {
  const address = 'GET /v1/integrations/{integration}/installations/{installation}/spaces'
  const ids = new Set<string>()
  for await (const { space } of api.all(address, { params, signal })) ids.add(space)
  return ids
}
