import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../db/db.ts'
import { inSteps, stepSize } from '../db/in-steps.ts'
import { findInstallation, type Installation } from '../db/queries/installed/installations.ts'
import { holdInstallation, holdSomeDue } from '../db/queries/moved/hold.ts'
import { AnnexError } from '../errors/annex-error.ts'

/** Longer than an attempt, or a dispatch with its `waitUntil`, takes. */
const longestWaitMs = 120_000
const lookAgainMs = 50

/**
 * Holds an installation, and waits until nothing of it runs any more: what its export says stays as it is then.
 *
 * @throws AnnexError `not_found`; `unavailable` when something still runs after two minutes. It is held then, too.
 */
export async function holdForExport(db: Db, id: string, forget: () => void): Promise<Installation> {
  const at = new Date().toISOString()
  const reason = `Exported at ${at}. Resume it here only if its export is started nowhere else: what it owes would be sent twice.`
  let giveUpAt = performance.now() + longestWaitMs
  for (;;) {
    const held = await db.transaction((transaction) => holdInstallation(transaction, id, reason))
    if (held === undefined) throw new AnnexError('not_found', `There is no installation ${id}.`)
    forget()
    if (held.running === 0 && !held.isDue) break
    if (held.isDue && (await holdDue(db, id)) > 0) giveUpAt = performance.now() + longestWaitMs
    if (performance.now() > giveUpAt) {
      throw new AnnexError(
        'unavailable',
        `${held.running} jobs of ${id} still run. It is held; export it again in a minute.`,
      )
    }
    await sleep(lookAgainMs)
  }
  const installation = await findInstallation(db, id)
  if (installation === undefined) throw new AnnexError('not_found', `There is no installation ${id}.`)
  return installation
}

/** In steps: it may be a million, and all others' work goes on. */
const holdDue = (db: Db, id: string): Promise<number> =>
  inSteps(async () => {
    const changed = await db.transaction((transaction) => holdSomeDue(transaction, id, stepSize))
    return { changed, more: changed === stepSize }
  })
