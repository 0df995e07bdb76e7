import { resolve } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { openSecretBox } from '../access/open-secret-box.ts'
import { createGate, listen } from '../api/listen.ts'
import type { LoadedSettings } from '../config/load-settings.ts'
import { createEgress } from '../egress/egress.ts'
import { createToSource } from '../installations/source-maps.ts'
import { createLogWriter } from '../logs/create-log-writer.ts'
import { createKnownSecrets } from '../logs/known-secrets.ts'
import { createMetrics } from '../metrics/create-metrics.ts'
import { endpointPrefix } from '../sandbox/level.ts'
import { createDeliveryCounts } from '../webhooks/delivery-counts.ts'
import type { AttemptSeen } from '../webhooks/run-delivery.ts'
import { sendAttempt } from '../webhooks/send-attempt.ts'
import { createSecretReader } from '../webhooks/signing-secrets.ts'
import { hostOf } from './announce.ts'
import { createLogger, hostSecrets } from './create-logger.ts'
import { ensureCliToken, ensureOperator } from './first-start.ts'
import { createNotifier } from './notifier.ts'
import { openStorage } from './open-storage.ts'
import { startDeliveries } from './start-workers.ts'

/** An Annex that sends what is owed, and listens: whoever asks waits for `startAnswering`. */
export type Delivering = Awaited<ReturnType<typeof startDelivering>>

/**
 * What is owed to others waits for no script, and not for the half of Annex that only scripts and visitors need: after a crash
 * it goes on within a second. The parts stand in the order in which they need each other; `ends` takes them down in the
 * opposite one.
 */
export async function startDelivering(
  { settings, variables, readVariables }: LoadedSettings,
  ends: AsyncDisposableStack,
) {
  const secrets = createKnownSecrets(hostSecrets(settings))
  const logger = createLogger(settings.LOG_LEVEL, secrets.redactAny)
  const onDefect = (error: unknown, requestId?: string) => logger.error({ err: error, requestId }, 'defect')

  const dataDir = resolve(settings.DATA_DIR)
  const { database, commits, notifications, hostId } = await openStorage(
    { databaseUrl: settings.DATABASE_URL, dataDir, logger },
    ends,
  )
  const { db, clock } = database
  const { organization, samples } = await ensureOperator(db, settings.OPERATOR_ORGANIZATION)
  await ensureCliToken(db, dataDir)

  const box = await openSecretBox(db, settings.SECRET_KEY, dataDir)
  const signingSecrets = createSecretReader(box, clock)
  const logs = createLogWriter(db, { toSource: createToSource(db), redact: secrets.redact, onDefect })
  ends.defer(logs.close)

  let url = ''
  const publicUrl = () => settings.PUBLIC_URL.replace(/\/+$/, '') || url
  const hopsKey = box.deriveKey('hops')
  const userAgent = `Annex/${packageJson.version}`
  const egressOptions = { ownOrigin: () => url, hopsKey, allow: settings.EGRESS_ALLOW, userAgent }
  // Deliveries and scripts have separate connections and lookups: neither can use up the other's.
  // The queue alone limits attempts in flight: none of them waits for a connection.
  const egress = createEgress({ ...egressOptions, connectionsPerOrigin: settings.DELIVERY_CONCURRENCY })
  ends.defer(egress.close)
  // An installation has up to 16 fetches in flight: one alone must not use up the connections to an origin.
  const forScripts = { ...egressOptions, connectionsPerOrigin: 256 }

  const metrics = createMetrics()
  const counts = createDeliveryCounts(db, onDefect)
  ends.defer(counts.close)
  const notifier = createNotifier(notifications)
  const onAttempt = (seen: AttemptSeen) => {
    metrics.observeAttempt(seen)
    counts.take(seen)
    notifier.changes.notify()
  }
  const gate = createGate()
  const listening = await listen(gate.handle, settings.HOST, settings.PORT, (request, status) =>
    metrics.observeRequest((request.url ?? '').startsWith(endpointPrefix), status),
  )
  const outside = ends.use(new AsyncDisposableStack())
  outside.defer(listening.close)
  outside.defer(gate.close)
  url = `http://${hostOf(settings.HOST)}:${listening.port}`
  logger.info({ version: packageJson.version, url }, 'listening')
  const workerParts = { database, commits, hostId, settings, logger }
  const deliveries = await startDeliveries(workerParts, {
    secrets: signingSecrets,
    send: (delivery, secrets, options) => sendAttempt(egress, delivery, secrets, options),
    logs,
    onAttempt,
  })
  outside.defer(deliveries.close)
  notifier.onWork(deliveries)
  return {
    ...{
      settings,
      variables,
      readVariables,
      dataDir,
      logger,
      onDefect,
      secrets,
      database,
      commits,
      hostId,
    },
    ...{ organization, samples, box, signingSecrets, logs, hopsKey, publicUrl, url, forScripts },
    ...{ metrics, counts, notifier, gate, outside, workerParts, deliveries },
  }
}
