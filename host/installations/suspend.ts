import { type Origin, systemOrigin } from '../access/actor.ts'
import type { Db } from '../db/db.ts'
import { findInstallation, type Installation } from '../db/queries/installations.ts'
import { findIntegration } from '../db/queries/integrations.ts'
import { releaseWaiting } from '../db/queries/release-waiting.ts'
import {
  pauseInstallation,
  resumeInstallation,
  resumeIntegration,
  suspendInstallation,
  suspendIntegration,
} from '../db/queries/suspensions.ts'
import { transact } from '../db/sql.ts'
import { recordAudit } from '../logs/audit.ts'
import type { LogWriter } from '../logs/create-log-writer.ts'
import { installationOf, type SandboxTarget } from '../sandbox/target.ts'
import { auditLevel } from './audit-level.ts'
import { noteStatus } from './note-status.ts'

export type Suspensions = {
  /** Stores the suspension of a target, and tells its installer and the operator the reason. */
  suspend: (target: SandboxTarget, reason: string) => void
  /** Resumes a paused or suspended installation, or an integration as a whole. Its waiting work is due then. */
  resume: (of: { installation: string } | { integration: string }, origin: Origin) => Promise<void>
  /** Pauses an active installation. */
  pause: (installation: Installation, origin: Origin) => Promise<void>
}

/**
 * Annex suspends; a person or a new version resumes.
 *
 * @param given.forgive drops the strikes of a target, by its key
 * @param given.onSuspend tells the operator
 */
export function createSuspensions(given: {
  db: Db
  logs: LogWriter
  forgive: (key: string) => void
  onSuspend: (target: SandboxTarget, reason: string) => void
  onDefect: (error: unknown) => void
}): Suspensions {
  const { db, logs } = given
  return {
    suspend: (target, reason) => void store(target, reason).catch(given.onDefect),
    async pause(installation, origin) {
      await transact(db, async (transaction) => {
        await pauseInstallation(transaction, installation.id)
        await auditLevel(transaction, origin, installation, { action: 'installation.pause' })
        await noteStatus(transaction, installation, { why: 'paused', origin })
      })
    },
    async resume(of, origin) {
      const lanes = await transact(db, async (transaction) => {
        await auditStatus(transaction, origin, of, 'resume')
        if (!('installation' in of)) return resumeIntegration(transaction, of.integration)
        const lanes = await resumeInstallation(transaction, of.installation)
        const installation = await findInstallation(transaction, of.installation)
        if (installation !== undefined)
          await noteStatus(transaction, installation, { why: 'resumed', origin })
        return lanes
      })
      given.forgive('installation' in of ? of.installation : of.integration)
      for (const lane of lanes) await releaseWaiting(db, lane)
    },
  }

  async function store(target: SandboxTarget, reason: string): Promise<void> {
    const { integration, version } = target
    const { installationId } = installationOf(target)
    const suspension = { reason, digest: version.digest }
    const isNew = await transact(db, async (transaction) => {
      const isSuspended =
        installationId === undefined
          ? await suspendIntegration(transaction, integration, suspension)
          : await suspendInstallation(transaction, installationId, suspension)
      const of = installationId === undefined ? { integration } : { installation: installationId }
      if (isSuspended) await auditStatus(transaction, systemOrigin, of, 'suspend', { reason })
      const installation = installationId && (await findInstallation(transaction, installationId))
      if (installation)
        await noteStatus(transaction, installation, { why: 'suspended', origin: systemOrigin })
      return isSuspended
    })
    if (!isNew) return
    const of = installationId ?? `--integration ${integration}`
    logs.report({
      integration,
      installationId: installationId ?? null,
      requestId: null,
      level: 'error',
      text: `Suspended. ${reason} A new version of the script starts it again, and so does \`npx annex resume ${of}\`.`,
    })
    given.onSuspend(target, reason)
  }
}

async function auditStatus(
  transaction: Db,
  origin: Origin,
  of: { installation: string } | { integration: string },
  verb: 'suspend' | 'resume',
  after?: object,
): Promise<void> {
  const more = after === undefined ? {} : { after }
  if ('installation' in of) {
    const installation = await findInstallation(transaction, of.installation)
    if (installation === undefined) return
    return auditLevel(transaction, origin, installation, { action: `installation.${verb}`, ...more })
  }
  const row = await findIntegration(transaction, of.integration)
  await recordAudit(transaction, origin, {
    action: `integration.${verb}`,
    organizationId: row?.organizationId ?? null,
    subject: { kind: 'integration', id: of.integration },
    ...more,
  })
}
