import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Origin } from '../access/actor.ts'
import type { Db } from '../db/db.ts'
import type { Configuration } from '../db/queries/installations.ts'
import { type AuditEntry, recordAudit } from '../logs/audit.ts'
import { environmentSecrets } from '../logs/known-secrets.ts'
import { type InstalledLevel, levelOf, toVisibleSettings } from './level-settings.ts'
import { isSecret } from './secret-settings.ts'

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
  const [from, to] = [toStored(before), toStored(after)]
  return auditLevel(transaction, origin, after, {
    action: 'settings.change',
    before: toShown(manifest, before),
    after: toShown(manifest, after),
    secrets: [from, to].flatMap((configuration) => secretsIn(manifest, after, configuration)),
  })
}

/** Values of secret settings, and of settings whose names suggest a secret. */
function secretsIn(
  manifest: Manifest,
  { target }: InstalledLevel,
  configuration: Configuration,
): [name: string, value: string][] {
  const properties = manifest.configurations?.[levelOf(target)]?.properties ?? {}
  const declared = Object.entries(properties).flatMap(([name, property]): [string, string][] => {
    const value = Object.hasOwn(configuration, name) ? configuration[name] : undefined
    return isSecret(property) && typeof value === 'string' && value !== '' ? [[name, value]] : []
  })
  return [...declared, ...environmentSecrets({ installation: { configuration } })]
}

const toStored = ({ installation, target }: InstalledLevel): Configuration =>
  (target ?? installation).configuration

/** The part of a level that people see. */
export function toShown(manifest: Manifest | undefined, level: InstalledLevel): object {
  const configuration = toVisibleSettings(manifest, levelOf(level.target), toStored(level))
  return { configuration, externalIds: (level.target ?? level.installation).externalIds }
}
