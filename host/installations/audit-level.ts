import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Origin } from '../access/actor.ts'
import type { Db } from '../db/db.ts'
import { type AuditEntry, recordAudit } from '../logs/audit.ts'
import { environmentSecrets } from '../logs/known-secrets.ts'
import { type InstalledLevel, levelOf, toVisibleSettings } from './level-settings.ts'
import { secretTexts } from './secret-settings.ts'

/** Records a change of an installation, or of its site or space installation. */
export function auditLevel(
  transaction: Db,
  origin: Origin,
  { installation, target }: InstalledLevel,
  entry: Omit<AuditEntry, 'organizationId' | 'subject'>,
): Promise<void> {
  const { id, organizationId } = installation
  const subject =
    target === undefined
      ? { kind: 'installation', id }
      : { kind: `${target.kind}_installation`, id: `${id}/${target.targetId}` }
  return recordAudit(transaction, origin, { ...entry, organizationId, subject })
}

/** A level's settings before and after a change: without credentials, and with the values of secret settings masked. */
export function auditSettings(
  transaction: Db,
  origin: Origin,
  manifest: Manifest,
  { before, after }: { before: InstalledLevel; after: InstalledLevel },
): Promise<void> {
  return auditLevel(transaction, origin, after, {
    action: 'settings.change',
    before: toShown(manifest, before),
    after: toShown(manifest, after),
    secrets: [before, after].flatMap((level) => secretsIn(manifest, level)),
  })
}

/** Values of secret settings, and of settings whose names suggest a secret. */
function secretsIn(
  manifest: Manifest,
  { installation, target }: InstalledLevel,
): [name: string, value: string][] {
  const stored = target ?? installation
  const secrets = secretTexts(manifest, levelOf(target), stored)
  return [...secrets, ...environmentSecrets({ installation: { configuration: stored.configuration } })]
}

/** The part of a level that people see. */
export function toShown(manifest: Manifest | undefined, level: InstalledLevel): object {
  const stored = level.target ?? level.installation
  const configuration = toVisibleSettings(manifest, levelOf(level.target), stored)
  return { configuration, externalIds: stored.externalIds }
}
