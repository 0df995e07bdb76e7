import type { ScriptTokens } from '../access/script-tokens.ts'
import type { SecretBox } from '../access/secret-box.ts'
import type { Db } from '../db/db.ts'
import { AnnexError, isAnnexError } from '../errors/annex-error.ts'
import { keepReadings } from '../keep-readings.ts'
import { environmentSecrets } from '../logs/environment-secrets.ts'
import type { KnownSecrets } from '../logs/known-secrets.ts'
import type { ReadOptions } from '../manifest/read-options.ts'
import { endpointPath, type Level } from '../sandbox/level.ts'
import { suspendedError } from '../sandbox/sandbox-errors.ts'
import type { DispatchContext, SandboxTarget } from '../sandbox/target.ts'
import { buildEnvironment, type LevelRecords } from './build-environment.ts'
import { readLevel } from './read-level.ts'

/** All that a dispatch to a level needs, but for the event itself. */
export type PreparedLevel = {
  records: LevelRecords
  target: SandboxTarget
  /** The environment as JSON text. */
  environment: string
}

export type PrepareDispatch = {
  /** @throws AnnexError as `readLevel`, or `installation_paused`, `installation_suspended` */
  prepare: (level: Level) => Promise<PreparedLevel>
  /** Forgets what was read: a record has changed. */
  forget: () => void
}

/** Reads a level once a second rather than once a request. */
export function createPrepareDispatch(given: {
  db: Db
  box: SecretBox
  tokens: ScriptTokens
  publicUrl: () => string
  reading: ReadOptions
  /** What the script gets to know must not be in its log. */
  learn: KnownSecrets['learn']
}): PrepareDispatch {
  // A refusal is good for as long, or a flood of requests for what is suspended would read it each time.
  const levels = keepReadings({ keyOf: endpointPath, read, keepsError: isAnnexError })
  return { prepare: levels.get, forget: levels.forget }

  async function read(level: Level): Promise<PreparedLevel> {
    const records = await readLevel(given.db, level)
    assertMayRun(records)
    const { box, tokens, reading } = given
    const environment = await buildEnvironment(records, {
      box,
      tokens,
      reading,
      publicUrl: given.publicUrl(),
    })
    const target = toTarget(records)
    given.learn(target.key, environmentSecrets(environment))
    given.learn(target.key, environmentSecrets({ signingSecrets: previousSecrets(records, box) }))
    return { records, environment: JSON.stringify(environment), target }
  }

  function groupOf(organizationId: string): SandboxTarget['group'] {
    return organizationId === given.reading.operatorOrganizationId
      ? 'operator'
      : `publisher-${organizationId}`
  }

  function toTarget({ installation, integration, version }: LevelRecords): SandboxTarget {
    const { name, organizationId } = integration
    return {
      key: installation?.id ?? name,
      group: groupOf(organizationId),
      integration: name,
      version,
    }
  }
}

/** What a rotation replaced: the script may have kept it, and it may still sign. */
function previousSecrets({ installation, target }: LevelRecords, box: SecretBox): Record<string, string> {
  const sealed = {
    previousOfInstallation: installation?.previousSigningSecret,
    previousOfTarget: target?.previousSigningSecret,
  }
  return Object.fromEntries(
    Object.entries(sealed).flatMap(([name, secret]) => (secret ? [[name, box.open(secret)]] : [])),
  )
}

/** A pending installation answers: completion and OAuth need its endpoint before it is active. */
function assertMayRun({ installation, integration }: LevelRecords): void {
  if (installation?.status === 'paused') {
    throw new AnnexError(
      'installation_paused',
      `The installation ${installation.id} is paused. \`annex resume ${installation.id}\` lets it go on.`,
    )
  }
  if (installation?.status === 'moving') {
    throw new AnnexError(
      'installation_paused',
      `The installation ${installation.id} is being moved. ${installation.statusReason ?? ''}`,
    )
  }
  if (installation?.status === 'suspended') {
    throw suspendedError(installation.id, installation.statusReason ?? '')
  }
  if (installation === undefined && integration.suspendedAt !== null) {
    throw suspendedError(integration.name, integration.suspendedReason ?? '')
  }
}

/** On whose behalf a dispatch to the level runs. */
export function toContext(
  { level, manifest, installation }: LevelRecords,
  { requestId, hops, event }: Pick<DispatchContext, 'requestId' | 'hops' | 'event'>,
): DispatchContext {
  return {
    requestId,
    hops,
    event,
    level,
    integration: manifest.name,
    scopes: manifest.scopes,
    declaredHosts: manifest.egress,
    installationId: installation?.id,
    organizationId: installation?.organizationId,
  }
}
