import { createWorker, type Worker } from '../../jobs/create-worker.ts'
import type { LogWriter } from '../../logs/create-log-writer.ts'
import { createGiveUp } from '../../webhooks/give-up-endpoint.ts'
import { createRunDelivery, type OnAttempt } from '../../webhooks/run-delivery.ts'
import type { Sender } from '../../webhooks/sending/start-sender.ts'
import type { SecretReader } from '../../webhooks/signing-secrets.ts'
import { toSchedule, toShared, type WorkerParts } from './worker-parts.ts'

/** An endpoint that fails ten times in a row is left alone for five seconds, then for longer, up to five minutes. */
const circuit = { failures: 10, firstMs: 5_000, longestMs: 300_000 }

/** Begins with deliveries that are owed. They have a worker of their own, so that scripts and they wait for nothing of each other's. */
export function startDeliveries(
  parts: WorkerParts,
  given: {
    secrets: SecretReader
    send: Sender['send']
    logs: LogWriter
    onAttempt: OnAttempt
  },
): Promise<Worker> {
  const { clock, settings } = parts
  const { secrets, send, onAttempt } = given
  const runDelivery = createRunDelivery({
    ...{ secrets, send, onAttempt, clock, random: Math.random, schedule: toSchedule(settings) },
    timeoutMs: settings.DELIVERY_TIMEOUT_MS,
    standard: settings.DELIVERY_STANDARD_WEBHOOKS,
    giveUpAfterMs: settings.DELIVERY_GIVE_UP_HOURS * 3_600_000,
    giveUp: createGiveUp(given.logs),
  })
  const { DELIVERY_CONCURRENCY: concurrency, DELIVERY_PER_ENDPOINT: perEndpoint } = settings
  // What sends has the next ones at hand while the last ones are stored.
  const more = (atOnce: number) => Math.ceil(atOnce / 2)
  return createWorker({
    ...toShared(parts),
    handlers: { delivery: runDelivery },
    concurrency,
    ahead: more(concurrency),
    lanes: { most: perEndpoint + more(perEndpoint), first: Math.min(4, perEndpoint), circuit },
  })
}
