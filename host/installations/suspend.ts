import type { Db } from '../db/db.ts'
import { releaseWaiting } from '../db/queries/release-waiting.ts'
import {
  resumeInstallation,
  resumeIntegration,
  suspendInstallation,
  suspendIntegration,
} from '../db/queries/suspensions.ts'
import type { LogWriter } from '../logs/create-log-writer.ts'
import { installationOf, type SandboxTarget } from '../sandbox/target.ts'

export type Suspensions = {
  /** Stores the suspension of a target, and tells its installer and the operator the reason. */
  suspend: (target: SandboxTarget, reason: string) => void
  /** Resumes a paused or suspended installation, or an integration as a whole. Its waiting work is due then. */
  resume: (of: { installation: string } | { integration: string }) => Promise<void>
}

/**
 * Annex suspends; a person or a new version resumes.
 *
 * @param given.forget clears cached levels
 * @param given.forgive drops the strikes of a target, by its key
 * @param given.wake starts due work
 * @param given.onSuspend tells the operator
 */
export function createSuspensions(given: {
  db: Db
  logs: LogWriter
  forget: () => void
  forgive: (key: string) => void
  wake: () => void
  onSuspend: (target: SandboxTarget, reason: string) => void
  onDefect: (error: unknown) => void
}): Suspensions {
  const { db, logs } = given
  return {
    suspend: (target, reason) => void store(target, reason).catch(given.onDefect),
    async resume(of) {
      const lanes = await db.transaction((transaction) =>
        'installation' in of
          ? resumeInstallation(transaction, of.installation)
          : resumeIntegration(transaction, of.integration),
      )
      given.forgive('installation' in of ? of.installation : of.integration)
      given.forget()
      for (const lane of lanes) await releaseWaiting(db, lane, given.wake)
    },
  }

  async function store(target: SandboxTarget, reason: string): Promise<void> {
    const { integration, version } = target
    const { installationId } = installationOf(target)
    const suspension = { reason, digest: version.digest }
    const isNew =
      installationId === undefined
        ? await suspendIntegration(db, integration, suspension)
        : await suspendInstallation(db, installationId, suspension)
    given.forget()
    if (!isNew) return
    const of = installationId ?? `--integration ${integration}`
    logs.report({
      integration,
      installationId: installationId ?? null,
      requestId: null,
      level: 'error',
      text: `Suspended. ${reason} A new version of the script starts it again, and so does \`annex resume ${of}\`.`,
    })
    given.onSuspend(target, reason)
  }
}
