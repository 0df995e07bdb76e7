import type { LogWriter } from '../../logs/create-log-writer.ts'
import { createWorker, type Worker } from '../../queue/worker.ts'
import { createGiveUp } from '../../webhooks/receiver-health.ts'
import { createRunDelivery, type OnAttempt, type Send } from '../../webhooks/run-delivery.ts'
import type { SecretReader } from '../../webhooks/signing-secrets.ts'
import { toSchedule, toShared, type WorkerParts } from './worker-parts.ts'

/** Ten failures in a row open the circuit of a receiver for five seconds, then for longer, up to five minutes. */
const circuit = { failures: 10, firstMs: 5_000, longestMs: 300_000 }

/** Deliveries have a worker of their own: scripts and receivers do not wait for each other. */
export function startDeliveries(
  parts: WorkerParts,
  given: {
    secrets: SecretReader
    send: Send
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
  const { DELIVERY_CONCURRENCY: concurrency, DELIVERY_PER_RECEIVER: perReceiver } = settings
  return createWorker({
    ...toShared(parts),
    handlers: { delivery: runDelivery },
    concurrency,
    lanes: { most: perReceiver, first: Math.min(4, perReceiver), circuit },
  })
}
