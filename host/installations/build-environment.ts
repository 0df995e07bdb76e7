import type { Manifest } from '../../schemas/generated/manifest.ts'
import { imageKeyOf } from '../access/install-keys.ts'
import type { ScriptTokens } from '../access/script-tokens.ts'
import type { SecretBox } from '../access/secret-box.ts'
import type { IntegrationRow } from '../db/queries/integrations.ts'
import { installationOf, type Level } from '../db/queries/levels.ts'
import type { VersionHead } from '../db/queries/versions.ts'
import { AnnexError } from '../errors.ts'
import { assetsOf, toAssetUrl } from '../manifest/images.ts'
import type { ReadOptions } from '../manifest/read-options.ts'
import { readSecrets } from '../manifest/secrets.ts'
import { endpointPath, type LevelRef } from '../sandbox/level-ref.ts'
import { installationPage } from './installation-view.ts'
import { nameOfLevel, type SettingsTag, shownStatusOf, statusOf } from './level-settings.ts'
import { effectiveConfiguration } from './usable-settings.ts'

/** A level and its records in the database. */
export type LevelRecords = {
  level: LevelRef
  integration: IntegrationRow
  version: VersionHead & { code: string }
  manifest: Manifest
  /** Undefined at the level of an integration. */
  own?: Level
  /** Ids of the spaces that the installation is installed in. */
  spaces?: string[]
}

/**
 * The value of `context.environment` in a script (runtime-surface: "environment"). It holds the secrets of the script's own
 * levels, and tokens that expire within the hour.
 */
export async function buildEnvironment(
  records: LevelRecords,
  given: {
    publicUrl: string
    box: SecretBox
    tokens: ScriptTokens
    settingsTag: SettingsTag
    reading: ReadOptions
    isLast: boolean
  },
): Promise<Record<string, unknown>> {
  const { manifest, version, integration, own, spaces } = records
  const installation = own && installationOf(own)
  const place = own?.kind === 'account' ? undefined : own
  const { box, tokens, settingsTag, publicUrl } = given
  const { name, scopes } = manifest
  const holder = {
    versionId: version.id,
    ...(installation && { installationId: installation.id }),
    ...(given.isLast && { isLast: true as const }),
  }
  const urlOf = (level: LevelRef) => publicUrl + endpointPath(level)
  const integrationUrl = urlOf({ kind: 'integration', integration: name })
  const installationUrl =
    installation && urlOf({ kind: 'installation', integration: name, installationId: installation.id })
  const endpoints = (url: string | undefined) => ({ publicEndpoint: url, publicContentEndpoint: url })
  const placeKey = place?.kind === 'space' ? 'spaceInstallation' : 'siteInstallation'
  return {
    apiEndpoint: publicUrl,
    apiTokens: {
      integration: await tokens.issue({ kind: 'integration', integration: name, holder, scopes }),
      ...(installation && {
        installation: await tokens.issue({
          kind: 'installation',
          integration: name,
          installationId: installation.id,
          holder,
          scopes,
        }),
      }),
    },
    integration: {
      name,
      version: version.number,
      title: manifest.title,
      description: manifest.description,
      scopes,
      externalLinks: manifest.externalLinks ?? [],
      // In a dispatch that has an installation this is the installation's own endpoint (spec 4.1).
      urls: {
        ...endpoints(installationUrl ?? integrationUrl),
        integrationEndpoint: integrationUrl,
        ...pagesOf(manifest, publicUrl, box),
      },
    },
    ...(installation && {
      installation: {
        id: installation.id,
        status: statusOf(manifest, installation),
        configuration: effectiveConfiguration(manifest, installation),
        configurationVersion: settingsTag(manifest, installation),
        externalIds: installation.externalIds,
        target: { organization: installation.organizationId },
        spaces,
        space_selection: installation.spaceSelection,
        site_selection: installation.siteSelection,
        urls: { app: installationPage(publicUrl, installation), ...endpoints(installationUrl) },
      },
    }),
    ...(place && {
      [placeKey]: {
        integration: name,
        installation: place.installationId,
        [place.kind]: place.placeId,
        status: shownStatusOf(manifest, place),
        configuration: effectiveConfiguration(manifest, place),
        configurationVersion: settingsTag(manifest, place),
        externalIds: place.externalIds,
        urls: endpoints(urlOf(records.level)),
      },
    }),
    secrets: readSecrets(manifest, given.reading, integration.organizationId),
    signingSecrets: {
      integration: openSecret(box, integration, name, ''),
      ...(installation && { installation: openSecret(box, installation, installation.id, installation.id) }),
      ...(place && {
        [placeKey]: openSecret(
          box,
          place,
          nameOfLevel(place),
          `${place.installationId} --${place.kind} ${place.placeId}`,
        ),
      }),
    },
  }
}

/**
 * @param named the arguments that name a level to `annex rotate-secret`. Empty: no command replaces the secret
 * @throws AnnexError `settings_unreadable`
 */
function openSecret(
  box: SecretBox,
  { signingSecret }: { signingSecret: string },
  owner: string,
  named: string,
): string {
  try {
    return box.open(signingSecret)
  } catch (cause) {
    const another =
      named === '' ? '' : `, or make another secret: npx annex rotate-secret ${named} --overlap 0`
    throw new AnnexError(
      'settings_unreadable',
      `The signing secret of ${owner} was encrypted with another SECRET_KEY. Start Annex with that key${another}.`,
      { cause },
    )
  }
}

/** Where people see the integration, and its images. */
function pagesOf(manifest: Manifest, publicUrl: string, box: SecretBox): Record<string, string> {
  const { name, icon } = manifest
  const assets = assetsOf(manifest, publicUrl, imageKeyOf(box, name))
  return {
    app: `${publicUrl}/integrations/${name}`,
    assets,
    ...(icon !== undefined && { icon: toAssetUrl(assets, icon) }),
  }
}
