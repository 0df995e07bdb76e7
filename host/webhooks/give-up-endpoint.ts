import type { Step } from '../db/group-commit.ts'
import type { Delivery } from '../db/queries/deliveries.ts'
import { disableEndpoint, type Endpoint } from '../db/queries/endpoints.ts'
import { findInstallation } from '../db/queries/installed/installations.ts'
import type { LogWriter } from '../logs/create-log-writer.ts'
import type { NextStep } from '../queue/retry-schedule.ts'
import type { Attempt } from './send-attempt.ts'

/** An endpoint to which nothing more is to be sent, and why. */
export type GivingUp = { endpoint: Endpoint; reason: string }

/**
 * Why an endpoint is to be given up after an attempt: it has said that it is gone (410, RFC 9110 section 15.5.11), or
 * it has answered nothing with 2xx for `giveUpAfterMs`. That takes a delivery that has used up its retries, or has been owed for
 * as long: the failure before it may have been the only one, and of days ago.
 */
export function reasonToGiveUp(
  { failingSince }: Pick<Endpoint, 'failingSince'>,
  { status }: Pick<Attempt, 'status'>,
  { state, createdAt }: Pick<NextStep, 'state'> & Pick<Delivery, 'createdAt'>,
  nowMs: number,
  giveUpAfterMs: number,
): string | undefined {
  if (status === 410) return 'It answered 410 Gone.'
  if (state === 'delivered' || failingSince === null || nowMs - failingSince < giveUpAfterMs) return undefined
  if (state === 'due' && nowMs - createdAt < giveUpAfterMs) return undefined
  return `No attempt has been answered with 2xx since ${new Date(failingSince).toISOString()}.`
}

/** Disables endpoints, and tells their installers: in the installation's log, and by the endpoint's reason. */
export function createGiveUp(logs: Pick<LogWriter, 'report'>): Step<GivingUp, undefined> {
  return async (transaction, all) => {
    for (const { endpoint, reason } of all) {
      const { id, installationId, url } = endpoint
      // Attempts that were under way together say it together.
      if (!(await disableEndpoint(transaction, id, reason))) continue
      const installation = await findInstallation(transaction, installationId)
      if (installation === undefined) continue
      logs.report({
        integration: installation.integration,
        installationId,
        requestId: null,
        level: 'error',
        text: `The endpoint ${id} (${url}) is disabled. ${reason} What is owed to it fails; mend it, then: annex endpoints resume ${id}`,
      })
    }
    return all.map(() => undefined)
  }
}
