import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Origin } from '../access/actor.ts'
import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { installationOf, type Level } from '../db/queries/levels.ts'
import { findLastUsed, flowLifetimeMs } from '../db/queries/oauth-flows.ts'
import { type AuditEntry, recordAudit } from '../logs/audit.ts'
import { environmentSecrets } from '../logs/known-secrets.ts'
import { endpointPath } from '../sandbox/level-ref.ts'
import { splitConfiguration } from './effective-settings.ts'
import { toRef, toVisibleSettings } from './level-settings.ts'
import { secretTexts } from './secret-settings.ts'

/** Records a change of an installation, or of its site or space installation. */
export function auditLevel(
  transaction: Db,
  origin: Origin,
  level: Level,
  entry: Omit<AuditEntry, 'organizationId' | 'subject'>,
): Promise<void> {
  const { id, organizationId } = installationOf(level)
  const subject =
    level.kind === 'account'
      ? { kind: 'installation', id }
      : { kind: `${level.kind}_installation`, id: `${id}/${level.placeId}` }
  return recordAudit(transaction, origin, { ...entry, organizationId, subject })
}

/** A level's settings before and after a change: without credentials, and with the values of secret settings masked. */
export function auditSettings(
  transaction: Db,
  origin: Origin,
  manifest: Manifest,
  { before, after }: { before: Level; after: Level },
): Promise<void> {
  return auditLevel(transaction, origin, after, {
    action: 'settings.change',
    before: toShown(manifest, before),
    after: { ...toShown(manifest, after), ...clearedIn(manifest, before, after) },
    secrets: [before, after].flatMap((level) => secretsIn(manifest, level)),
  })
}

/** The names of values beside the settings that an edit has removed. No one is shown their values. */
function clearedIn(manifest: Manifest, before: Level, after: Level): { cleared?: string[] } {
  const { scriptOwned } = splitConfiguration(manifest, before.kind, before.configuration)
  const cleared = Object.keys(scriptOwned).filter((name) => !Object.hasOwn(after.configuration, name))
  return cleared.length === 0 ? {} : { cleared }
}

/**
 * Records connections that a script has just made: by the maker of the link that led to them, and as the account that the
 * script names.
 */
export async function auditConnections(
  transaction: Db,
  origin: Origin,
  { before, after }: { before: Level; after: Level },
): Promise<void> {
  const { settingDetails: known } = before
  const made = Object.entries(after.settingDetails).flatMap(([name, { connection }]) =>
    connection !== undefined && connection.since !== known[name]?.connection?.since
      ? [{ name, connection }]
      : [],
  )
  if (made.length === 0) return
  const account = made.find(({ connection }) => connection.account !== undefined)?.connection.account
  const names = made.map(({ name }) => name)
  await auditConnection(transaction, origin, after, { action: 'connection.create', names, account })
}

/** Records a connection by the maker of the link that has led to it. */
export async function auditConnection(
  transaction: Db,
  origin: Origin,
  level: Level,
  given: { action: 'connection.create' | 'connection.hold'; names: string[]; account?: string | undefined },
): Promise<void> {
  const { action, names: connections, account } = given
  const since = nowOf(transaction) - flowLifetimeMs
  const flow = await findLastUsed(transaction, endpointPath(toRef(level)), since)
  // A person who says yes to another account is the one who connects it.
  const isScript = origin.actor.kind === 'script'
  const actor =
    isScript && flow?.makerKind != null ? { kind: flow.makerKind, id: flow.makerId } : origin.actor
  await auditLevel(transaction, { ...origin, actor }, level, {
    action,
    after: {
      connections,
      ...(account !== undefined && { account }),
      ...(flow && { flow: flow.id, linkBy: flow.maker }),
    },
  })
}

/** Values of secret settings, and of settings whose names suggest a secret. */
function secretsIn(manifest: Manifest, level: Level): [name: string, value: string][] {
  const { configuration } = level
  return [...secretTexts(manifest, level), ...environmentSecrets({ installation: { configuration } })]
}

/** The part of a level that people see. */
export const toShown = (manifest: Manifest | undefined, level: Level): object => ({
  configuration: toVisibleSettings(manifest, level),
  externalIds: level.externalIds,
})
