import { join, resolve } from 'node:path'
import type { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import packageJson from '../package.json' with { type: 'json' }
import { checkSecretKey } from './access/check-secret-key.ts'
import { createScriptTokens } from './access/script-tokens.ts'
import { createSecretBox, loadSecretKey } from './access/secret-box.ts'
import { issueSetupToken } from './access/tokens.ts'
import { announce, hostOf } from './announce.ts'
import { createApp } from './app.ts'
import type { LoadedSettings, Settings } from './config/load-settings.ts'
import { createCalls } from './create-calls.ts'
import { createLogger, hostSecrets } from './create-logger.ts'
import { createWakes } from './create-wakes.ts'
import { createWaysOut } from './create-ways-out.ts'
import type { NewDelivery, Owed } from './db/queries/deliveries.ts'
import { publishEvent } from './events/publish-event.ts'
import { ensureCliToken, ensureOperator, type Samples } from './first-start.ts'
import { createAuthenticate } from './http/caller.ts'
import { createGate } from './http/gate.ts'
import { listen } from './http/listen.ts'
import { createPrepareDispatch } from './installations/prepare-dispatch.ts'
import { createReportFailure } from './installations/report-failure.ts'
import { createToSource } from './installations/source-maps.ts'
import { createSuspensions } from './installations/suspend.ts'
import { loadFolders } from './load-folders.ts'
import { createLogWriter } from './logs/create-log-writer.ts'
import { createKnownSecrets } from './logs/known-secrets.ts'
import { createMetrics } from './metrics/create-metrics.ts'
import { createHops } from './net/request/loop-guard.ts'
import { openStorage } from './open-storage.ts'
import { endpointPrefix } from './sandbox/level.ts'
import { createReceiptWriter } from './sandbox/receipts/create-receipt-writer.ts'
import type { Sandboxes } from './sandbox/sandboxes.ts'
import type { SandboxTarget } from './sandbox/target.ts'
import type { Wall } from './sandbox/wall/levels.ts'
import { startSandboxes } from './start-sandboxes.ts'
import { startDeliveries, startResends, startScripts } from './start-workers.ts'
import type { LoadedPlugin, PluginSource } from './versions/load-plugins.ts'
import { oweDelivery } from './webhooks/delivery-call.ts'
import { createDeliveryCounts } from './webhooks/operating/delivery-counts.ts'
import { keepHouse } from './webhooks/operating/housekeeping.ts'
import type { AttemptSeen } from './webhooks/run-delivery.ts'
import { createSecretReader } from './webhooks/signing-secrets.ts'

export type RunningServer = {
  url: string
  settings: Settings
  /** Good for one use, and there only while nobody is an operator. */
  setupToken: string | undefined
  plugins: LoadedPlugin[]
  samples: Samples
  sandboxes: Sandboxes
  /** What stands between a script and this machine, as it was tried at this start. */
  wall: Wall
  logger: Logger
  /** Stores a delivery, which is then sent: what scripts do with `queueDelivery`. */
  oweDelivery: (delivery: NewDelivery) => Promise<Owed>
  /** Takes no more requests and jobs, lets those that run come to an end, and gives everything back. */
  close: () => Promise<void>
}

/**
 * Starts Annex. When a part cannot start, those before it are ended again.
 *
 * @param senderThread started while Annex was loaded; default: one is started now
 */
export async function startServer(loaded: LoadedSettings, senderThread?: Worker): Promise<RunningServer> {
  const ends = new AsyncDisposableStack()
  try {
    return await start(loaded, senderThread, ends)
  } catch (error) {
    await ends.disposeAsync()
    throw error
  }
}

/** The parts in the order in which they need each other; `ends` takes them down in the opposite one. */
async function start(
  { settings, variables }: LoadedSettings,
  thread: Worker | undefined,
  ends: AsyncDisposableStack,
): Promise<RunningServer> {
  const secrets = createKnownSecrets(hostSecrets(settings))
  const logger = createLogger(settings.LOG_LEVEL, secrets.redactAny)
  const onDefect = (error: unknown, requestId?: string) => logger.error({ err: error, requestId }, 'defect')

  const dataDir = resolve(settings.DATA_DIR)
  const { database, commits, claims, notifications, host, place } = await openStorage(
    { databaseUrl: settings.DATABASE_URL, dataDir, logger, onDefect },
    ends,
  )
  const { db, dialect, clock } = database
  const { organization, samples } = await ensureOperator(db, settings.OPERATOR_ORGANIZATION)
  await ensureCliToken(db, dataDir)

  const box = createSecretBox(loadSecretKey(settings.SECRET_KEY, dataDir))
  await checkSecretKey(db, box)
  const signingSecrets = createSecretReader(box, clock)
  const tokens = createScriptTokens(box.deriveKey('script tokens'))
  const logs = createLogWriter(db, { toSource: createToSource(db), redact: secrets.redact, onDefect })
  ends.defer(logs.close)
  const receipts = createReceiptWriter(db, onDefect)
  ends.defer(receipts.close)

  let url = ''
  const publicUrl = () => settings.PUBLIC_URL.replace(/\/+$/, '') || url
  const hopsKey = box.deriveKey('hops')
  const { scriptEgress, sender } = createWaysOut(settings, {
    ownOrigin: () => url,
    hopsKey,
    onDefect,
    thread,
  })
  ends.defer(scriptEgress.close)
  ends.defer(sender.close)

  const metrics = createMetrics()
  const counts = createDeliveryCounts(db, onDefect)
  ends.defer(counts.close)
  const reading = {
    operatorOrganization: settings.OPERATOR_ORGANIZATION,
    operatorOrganizationId: organization.id,
    environment: variables,
  }
  const prepared = createPrepareDispatch({
    ...{ db: database.reader, box, tokens, publicUrl, reading },
    separatePublishers: settings.SANDBOX_SEPARATE_PUBLISHERS,
    learn: secrets.learn,
  })
  const wakes = createWakes(notifications, prepared.forget)
  const { wake, changes } = wakes
  const prepareDispatch = { ...prepared, forget: wakes.forget }
  const onAttempt = (seen: AttemptSeen) => {
    metrics.observeAttempt(seen)
    counts.take(seen)
    changes.notify()
  }
  const runCall = createCalls({ settings, db, commits, egress: scriptEgress, publicUrl, wake, onDefect })
  const onSuspend = (target: SandboxTarget, reason: string) => suspensions.suspend(target, reason)
  const publish = (organizationId: string, event: unknown) =>
    publishEvent(commits, wake, organizationId, event)
  const source: PluginSource = {
    ...{ db, box, place, reading, pluginsDir: settings.PLUGINS_DIR },
    hasOthers: dialect === 'postgres' && !settings.PLUGINS_COMPLETE,
    cacheFolder: join(dataDir, 'cache'),
  }
  const onLoaded = () => {
    wakes.forget()
    // A new version lifts a suspension: what has waited is due.
    wake()
  }
  // What is owed to others waits for no script. Who asks for something waits until the scripts are there.
  const outside = ends.use(new AsyncDisposableStack())
  const gate = createGate()
  let isStarted = false
  const listening = await listen(gate.handle, settings.HOST, settings.PORT, ({ url = '' }, status) =>
    metrics.observeRequest(url.startsWith(endpointPrefix), status),
  )
  outside.defer(listening.close)
  outside.defer(gate.close)
  url = `http://${hostOf(settings.HOST)}:${listening.port}`
  const workerParts = { database, commits, claims, clock, settings, logger, hostId: host.id }
  const deliveries = await startDeliveries(workerParts, {
    ...{ secrets: signingSecrets, send: sender.send, logs, onAttempt, isStarted: () => isStarted },
  })
  outside.defer(deliveries.close)
  wakes.begin(deliveries)

  const [{ sandboxes, wall }, folders] = await both(
    startSandboxes(
      {
        ...{ settings, dataDir, runCall, logs, logger, metrics, onSuspend },
        onReceipt: receipts.take,
      },
      ends,
    ),
    loadFolders({ settings, source, publish, onLoaded, logger, onDefect }, ends),
  )
  const suspensions = createSuspensions({
    ...{ db, logs, onDefect },
    forget: prepareDispatch.forget,
    forgive: sandboxes.forgive,
    onSuspend: ({ key, integration }, reason) => logger.warn({ key, integration, reason }, 'suspended'),
  })
  const report = createReportFailure(logs, onDefect)

  // In this order they end: what is under way may need all that has begun since.
  ends.defer(() => outside.disposeAsync())
  const scripts = await startScripts(workerParts, { sandboxes, prepareDispatch, report })
  ends.defer(scripts.close)
  wakes.begin(scripts)
  const resends = await startResends(workerParts, wake)
  ends.defer(resends.close)
  wakes.beginResends(resends)
  const workers = [scripts, deliveries, resends]
  await host.watch(async (hostIds) => {
    for (const worker of workers) await worker.takeOver(hostIds)
  })

  let stopping = false
  const app = createApp(
    {
      ...{ db, reader: database.reader, box, signingSecrets, tokens, logs, receipts },
      ...{ sandboxes, prepareDispatch, publish, report, wake, changes, counts, publicUrl },
      ...{ reload: folders.reload, resume: suspensions.resume, wakeResends: wakes.wakeResends },
      authenticate: createAuthenticate(database.reader, tokens),
      readHops: createHops(hopsKey).read,
      limits: { bodyBytes: settings.SANDBOX_BODY_BYTES },
      ...{ dataDir, version: packageJson.version },
      wall,
      metrics,
      metricsAccess: { readers: settings.METRICS_ACCESS, isBehindProxy: settings.PUBLIC_URL !== '' },
      state: () => ({ workers: workers.length, stopping }),
      openCircuits: deliveries.openCircuits,
    },
    onDefect,
  )
  gate.open(app)
  isStarted = true
  const { RETENTION_DAYS: days, RETENTION_ROWS: rows } = settings
  const retention = { ageMs: days === 0 ? undefined : days * 86_400_000, rows: rows === 0 ? undefined : rows }
  ends.defer(keepHouse({ db, retention, wake, onDefect }))
  folders.watch()
  ends.defer(announce(dataDir, url))

  const setupToken = await issueSetupToken(db)
  const close = () => {
    stopping = true
    changes.notify()
    return ends.disposeAsync()
  }
  return {
    url,
    settings,
    setupToken,
    plugins: folders.plugins,
    samples,
    sandboxes,
    wall,
    logger,
    oweDelivery: (delivery) => oweDelivery(commits, wake, delivery),
    close,
  }
}

/** Both at the same time: one waits for processes while the other works. When one fails, the other has come to its end, too. */
async function both<One, Other>(one: Promise<One>, other: Promise<Other>): Promise<[One, Other]> {
  await Promise.allSettled([one, other])
  return Promise.all([one, other])
}
