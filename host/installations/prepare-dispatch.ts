import type { ScriptTokens } from '../access/script-tokens.ts'
import type { SecretBox } from '../access/secret-box.ts'
import { cacheReads } from '../cache.ts'
import { isSameName } from '../db/any-case.ts'
import type { Db } from '../db/db.ts'
import { findInstallation } from '../db/queries/installations.ts'
import { toStoredName } from '../db/queries/integrations.ts'
import { findPlaceLevel, installationOf, type Level, levelsTo, listSpaceIds } from '../db/queries/levels.ts'
import { findVersionCode } from '../db/queries/versions.ts'
import { AnnexError, isAnnexError } from '../errors.ts'
import { environmentSecrets, type KnownSecrets } from '../logs/known-secrets.ts'
import type { ReadOptions } from '../manifest/read-options.ts'
import { endpointPath, type LevelRef } from '../sandbox/level-ref.ts'
import { suspendedError } from '../sandbox/sandbox-errors.ts'
import type { DispatchContext, SandboxTarget } from '../sandbox/target.ts'
import { assertRuns } from './assert-runs.ts'
import { buildEnvironment, type LevelRecords } from './build-environment.ts'
import { chooseVersion } from './choose-version.ts'
import { getDeployed } from './find-deployed.ts'
import { assertReadable, type SettingsTag } from './level-settings.ts'
import { OtherSpelling } from './other-spelling.ts'
import { secretSettings } from './secret-settings.ts'

/** A level, ready for a dispatch. */
export type PreparedLevel = {
  records: LevelRecords
  target: SandboxTarget
  /** The environment as JSON text. */
  environment: string
}

export type PrepareDispatch = {
  /** @throws AnnexError `not_found`, OtherSpelling, `no_version`, `installation_paused`, `installation_suspended` */
  prepare: (level: LevelRef) => Promise<PreparedLevel>
  /** For the last event of a level that is being uninstalled. @throws AnnexError as `prepare` */
  prepareLast: (level: LevelRef) => Promise<PreparedLevel>
  /** Clears the cache: a record has changed. */
  forget: () => void
}

/** Caches each level for a second. */
export function createPrepareDispatch(given: {
  db: Db
  box: SecretBox
  tokens: ScriptTokens
  settingsTag: SettingsTag
  publicUrl: () => string
  reading: ReadOptions
  /** The secrets in an environment are redacted in logs. */
  learn: KnownSecrets['learn']
}): PrepareDispatch {
  // Errors are cached too: a flood of requests for a suspended level must not reach the database.
  const levels = cacheReads({
    keyOf: (level) => `${endpointPath(level)} ${'versionId' in level ? level.versionId : ''}`,
    async read(level: LevelRef) {
      const records = await readLevel(given.db, level)
      assertIsThere(records)
      assertMayRun(records)
      return prepare(records)
    },
    cachesError: isAnnexError,
  })
  return {
    prepare: levels.get,
    prepareLast: async (level) => prepare(await readLevel(given.db, level), { isLast: true }),
    forget: levels.forget,
  }

  async function prepare(records: LevelRecords, { isLast = false } = {}): Promise<PreparedLevel> {
    const levels = records.own === undefined ? [] : levelsTo(records.own)
    for (const level of levels) assertReadable(level)
    const { box, tokens, settingsTag, reading } = given
    const environment = await buildEnvironment(records, {
      box,
      tokens,
      settingsTag,
      reading,
      publicUrl: given.publicUrl(),
      isLast,
    })
    const target = toTarget(records)
    given.learn(target.key, environmentSecrets(environment, secretSettings(records.manifest, levels)))
    given.learn(target.key, environmentSecrets({ signingSecrets: previousSecrets(levels, box) }))
    return { records, environment: JSON.stringify(environment), target }
  }

  function groupOf(organizationId: string): SandboxTarget['group'] {
    return organizationId === given.reading.operatorOrganizationId
      ? 'operator'
      : `publisher-${organizationId}`
  }

  function toTarget({ own, integration, version }: LevelRecords): SandboxTarget {
    const { name, organizationId } = integration
    return {
      key: own === undefined ? name : installationOf(own).id,
      group: groupOf(organizationId),
      integration: name,
      version,
    }
  }
}

/** @throws AnnexError `not_found` when the level does not exist; OtherSpelling; `no_version` when no version is deployed for it */
async function readLevel(db: Db, level: LevelRef): Promise<LevelRecords> {
  const installed = await readOwn(db, level)
  const installation = installed.own && installationOf(installed.own)
  const name = installation?.integration ?? (await toStoredName(db, level.integration))
  if (name !== level.integration) throw new OtherSpelling(name)
  const runs = level.kind === 'integration' ? { heldVersionId: await chooseVersion(db, level) } : installation
  const { version, ...deployed } = await getDeployed(db, level.integration, runs)
  // The code last: it may be long, and a request for a missing level must stay cheap.
  const code = await findVersionCode(db, version.id)
  // Two newer versions were deployed meanwhile, and the code of this one is gone.
  if (code === undefined) return readLevel(db, level)
  return { level, ...deployed, version: { ...version, code }, ...installed }
}

async function readOwn(db: Db, level: LevelRef): Promise<Pick<LevelRecords, 'own' | 'spaces'>> {
  if (level.kind === 'integration') return {}
  const { integration, installationId } = level
  const installation = await findInstallation(db, installationId)
  if (installation === undefined || !isSameName(installation.integration, integration)) {
    throw new AnnexError('not_found', `${integration} has no installation ${installationId}.`)
  }
  const spaces = await listSpaceIds(db, installationId)
  if (level.kind === 'installation') return { own: installation, spaces }
  const { kind, placeId } = level
  const own = await findPlaceLevel(db, installation, { kind, placeId })
  if (own === undefined) {
    throw new AnnexError('not_found', `${installationId} is not installed in the ${kind} ${placeId}.`)
  }
  return { own, spaces }
}

/** Secrets before a rotation: the script may have stored them, and they may still sign. */
function previousSecrets(levels: readonly Level[], box: SecretBox): Record<string, string> {
  return Object.fromEntries(
    levels.flatMap(({ kind, previousSigningSecret: secret }) => {
      const name = kind === 'account' ? 'previousOfInstallation' : 'previousOfPlace'
      return secret === null ? [] : [[name, box.open(secret)]]
    }),
  )
}

/** @throws AnnexError `not_found` for a level that is being uninstalled */
function assertIsThere({ level, own }: LevelRecords): void {
  if (own === undefined || levelsTo(own).every(({ removingAt }) => removingAt === null)) return
  throw new AnnexError('not_found', `${endpointPath(level)} has been uninstalled.`)
}

function assertMayRun({ own, integration }: LevelRecords): void {
  if (own !== undefined) assertRuns(installationOf(own))
  else if (integration.suspendedAt !== null) {
    throw suspendedError(integration.name, integration.suspendedReason ?? '')
  }
}

/** @throws AnnexError `not_found` */
export function assertHasScript({ records: { manifest } }: PreparedLevel): void {
  if (manifest.script !== undefined) return
  throw new AnnexError(
    'not_found',
    `The integration ${manifest.name} has no script, so nothing answers here.`,
  )
}

export function toContext(
  { level, manifest, version, own }: LevelRecords,
  { requestId, hops, event }: Pick<DispatchContext, 'requestId' | 'hops' | 'event'>,
): DispatchContext {
  const installation = own && installationOf(own)
  return {
    requestId,
    hops,
    event,
    level,
    integration: manifest.name,
    version: version.digest,
    versionId: version.id,
    scopes: manifest.scopes,
    declaredHosts: manifest.egress,
    settings: manifest.configurations,
    installationId: installation?.id,
    organizationId: installation?.organizationId,
  }
}
