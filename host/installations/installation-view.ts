import type {
  Installation as InstallationView,
  SigningSecret,
  SiteInstallation,
  SpaceInstallation,
} from '../../schemas/generated/api/installations.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Caller } from '../access/tokens.ts'
import type { Configuration, Installation, Signer } from '../db/queries/installations.ts'
import type { Level, PlaceLevel } from '../db/queries/levels.ts'
import type { InstallationWithSpaces } from '../db/queries/list-installations.ts'
import type { ErrorDetail } from '../errors.ts'
import { endpointPath, type LevelRef, signInPath } from '../sandbox/level-ref.ts'
import { type Connection, toConnections } from './connections.ts'
import { shownStatusOf, statusOf, statusReasonOf, toVisibleSettings, whyPending } from './level-settings.ts'
import { overlapEnd, type Rotated } from './rotate-secret.ts'
import { type StoredSettings, secretNames } from './secret-settings.ts'
import { usableSettings } from './usable-settings.ts'

type Viewer = { caller: Caller; manifest: Manifest | undefined; publicUrl: string }

/** A level as the API shows it. */
export const toLevelView = (
  level: Level,
  spaces: string[],
  viewer: Viewer,
): InstallationView | SiteInstallation | SpaceInstallation =>
  level.kind === 'account' ? toInstallationView({ ...level, spaces }, viewer) : toPlaceView(level, viewer)

export function toInstallationView(installation: InstallationWithSpaces, viewer: Viewer): InstallationView {
  const { id, integration, organizationId, externalIds, createdAt, updatedAt } = installation
  return {
    object: 'installation',
    id,
    integration,
    status: statusOf(viewer.manifest, installation),
    ...problemsOf(viewer.manifest, installation),
    ...reasonOf(viewer.manifest, installation),
    ...(installation.suspendedAt !== null && {
      suspendedAt: new Date(installation.suspendedAt).toISOString(),
    }),
    ...settingsFor(viewer, installation),
    externalIds,
    target: { organization: organizationId },
    spaces: installation.spaces,
    space_selection: installation.spaceSelection,
    site_selection: installation.siteSelection,
    urls: {
      app: installationPage(viewer.publicUrl, installation),
      ...endpointsOf(viewer, { kind: 'installation', integration, installationId: id }),
    },
    ...overlapOf(installation),
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  }
}

/** Site and space are plain ids. */
export function toPlaceView(level: PlaceLevel, viewer: Viewer): SiteInstallation | SpaceInstallation {
  const { integration } = level.above
  const { installationId, kind, placeId, externalIds, createdAt, updatedAt } = level
  const shared = {
    integration,
    installation: installationId,
    status: shownStatusOf(viewer.manifest, level),
    ...reasonOf(viewer.manifest, level),
    ...problemsOf(viewer.manifest, level),
    ...settingsFor(viewer, level),
    externalIds,
    urls: endpointsOf(viewer, { kind, integration, installationId, placeId }),
    ...overlapOf(level),
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  }
  return kind === 'site'
    ? {
        object: 'site-installation',
        site: placeId,
        ...shared,
        urls: { ...shared.urls, ...siteUrlsOf(viewer, level) },
      }
    : { object: 'space-installation', space: placeId, ...shared }
}

/** The page of an installation in Annex. Scripts send an installer back there. */
export const installationPage = (
  publicUrl: string,
  { id, organizationId }: Pick<Installation, 'id' | 'organizationId'>,
): string => `${publicUrl}/orgs/${organizationId}/installations/${id}`

function endpointsOf({ publicUrl }: Viewer, level: LevelRef) {
  const url = publicUrl + endpointPath(level)
  return { publicEndpoint: url, publicContentEndpoint: url }
}

/** Addresses for the pages of a site, where the script may answer them. */
function siteUrlsOf(
  { publicUrl, manifest }: Viewer,
  { installationId, placeId, above: { integration } }: PlaceLevel,
): { publishedScript?: string; visitorAuthentication?: string } {
  const base = `${publicUrl}/v1/integrations/${integration}/installations/${installationId}/sites/${placeId}`
  const { scopes = [] } = manifest ?? {}
  return {
    ...(scopes.includes('site:script:inject') && { publishedScript: `${base}/script` }),
    ...(scopes.includes('site:visitor:auth') && {
      visitorAuthentication: publicUrl + signInPath(integration, { installationId, placeId }),
    }),
  }
}

function reasonOf(manifest: Manifest | undefined, level: Level): { statusReason?: string } {
  const statusReason = statusReasonOf(manifest, level)
  return statusReason === undefined ? {} : { statusReason }
}

/** In a list, people get a level without its settings. */
export function toListed<View extends Partial<Settings>>(
  view: View,
  caller: Caller,
): Omit<View, keyof Settings> & Partial<Settings> {
  if (caller.kind === 'integration' || caller.kind === 'installation') return view
  const {
    configuration: _,
    connections: __,
    labels: ___,
    unconfirmed: ____,
    problems: _____,
    ...listed
  } = view
  return listed
}

type Settings = Pick<
  Required<InstallationView>,
  'configuration' | 'connections' | 'labels' | 'unconfirmed' | 'problems'
>

function problemsOf(manifest: Manifest | undefined, level: Level): { problems?: ErrorDetail[] } {
  const problems = whyPending(manifest, level)
  return problems.length === 0 ? {} : { problems }
}

/** The new signing secret is shown this once. */
export const toRotatedView = ({ signingSecret, previousSecretUntil }: Rotated): SigningSecret => ({
  object: 'signing-secret',
  signingSecret,
  ...(previousSecretUntil !== null && { previousSecretUntil: new Date(previousSecretUntil).toISOString() }),
})

/** When the overlap of two signing secrets ends. */
function overlapOf(signer: Signer): { previousSecretUntil?: string } {
  const end = overlapEnd(signer, Date.now())
  return end === null ? {} : { previousSecretUntil: new Date(end).toISOString() }
}

/** Scripts see the stored values that their version can use, people see them without credentials. */
function settingsFor(
  { caller, manifest }: Viewer,
  level: StoredSettings,
): {
  configuration: Configuration
  connections?: Record<string, Connection>
  labels?: Record<string, string>
  unconfirmed?: string[]
} {
  const { configuration, settingDetails } = level
  if (caller.kind === 'integration' || caller.kind === 'installation')
    return { configuration: manifest ? usableSettings(manifest, level) : configuration }
  const secrets = secretNames(manifest, level)
  const connections = toConnections(manifest, level, Date.now())
  const labels = Object.entries(settingDetails).flatMap(([name, { label }]) =>
    label && !secrets.has(name) ? [[name, label.label]] : [],
  )
  const unconfirmed = unconfirmedChoices(manifest, level).filter((name) => !secrets.has(name))
  return {
    configuration: toVisibleSettings(manifest, level),
    ...(connections && { connections }),
    ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
    ...(unconfirmed.length > 0 && { unconfirmed }),
  }
}

/** Values that no list of choices has had: Annex keeps a label of each one that it has found there. */
function unconfirmedChoices(
  manifest: Manifest | undefined,
  { kind, configuration, settingDetails }: StoredSettings,
): string[] {
  const properties = Object.entries(manifest?.configurations?.[kind]?.properties ?? {})
  const isChosen = (name: string) =>
    Object.hasOwn(settingDetails, name) && settingDetails[name]?.label !== undefined
  return properties.flatMap(([name, property]) =>
    property.type === 'string' &&
    property.completion_url !== undefined &&
    Object.hasOwn(configuration, name) &&
    configuration[name] !== '' &&
    !isChosen(name)
      ? [name]
      : [],
  )
}
