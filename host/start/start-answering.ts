import type { Logger } from 'pino'
import packageJson from '../../package.json' with { type: 'json' }
import { createScriptTokens } from '../access/script-tokens.ts'
import { issueSetupToken } from '../access/tokens.ts'
import { createAuthenticate } from '../api/caller.ts'
import { drainMs } from '../api/listen.ts'
import { createApp } from '../app.ts'
import type { Settings } from '../config/load-settings.ts'
import { createStorageProbe } from '../db/probe-storage.ts'
import type { NewDelivery, QueuedDelivery } from '../db/queries/deliveries.ts'
import { createEgress } from '../egress/egress.ts'
import { createHops } from '../egress/loop-guard.ts'
import { publishEvent } from '../events/publish-event.ts'
import { createPrepareDispatch } from '../installations/prepare-dispatch.ts'
import { createReportFailure } from '../installations/report-failure.ts'
import { createSuspensions } from '../installations/suspend.ts'
import { createReceiptWriter } from '../sandbox/receipt-writer.ts'
import type { Sandboxes } from '../sandbox/sandboxes.ts'
import type { SandboxTarget } from '../sandbox/target.ts'
import type { Wall } from '../sandbox/wall/levels.ts'
import type { LoadedPlugin, PluginSource } from '../versions/load-plugins.ts'
import { queueDelivery } from '../webhooks/delivery-call.ts'
import { runMaintenance } from '../webhooks/maintenance.ts'
import type { Retention } from '../webhooks/prune-history.ts'
import { announce } from './announce.ts'
import type { BegunWall } from './begin-wall.ts'
import { createCalls } from './create-calls.ts'
import type { Samples } from './first-start.ts'
import { loadFolders } from './load-folders.ts'
import type { Delivering } from './start-delivering.ts'
import { startSandboxes } from './start-sandboxes.ts'
import { startScripts } from './start-workers.ts'

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
  queueDelivery: (delivery: NewDelivery) => Promise<QueuedDelivery>
  /** Takes no more requests and jobs, lets those that run come to an end, and gives everything back. */
  close: () => Promise<void>
}

/** The scripts, and whoever asks: the second half of a start, in the same order. */
export async function startAnswering(
  delivering: Delivering,
  begunWall: BegunWall,
  ends: AsyncDisposableStack,
): Promise<RunningServer> {
  const { settings, readVariables, dataDir, logger, onDefect, secrets, database, commits } = delivering
  const { organization, samples, box, signingSecrets, logs, hopsKey, publicUrl, url } = delivering
  const { metrics, counts, notifier, gate, workerParts, deliveries } = delivering
  const { db, reader, longReader, dialect } = database
  const { wake, changes } = notifier
  const receipts = createReceiptWriter(db, onDefect)
  ends.defer(receipts.close)
  const egress = createEgress(delivering.forScripts)
  ends.defer(egress.close)

  const tokens = createScriptTokens(box.deriveKey('script tokens'))
  let variables = delivering.variables
  const reading = {
    operatorOrganization: settings.OPERATOR_ORGANIZATION,
    operatorOrganizationId: organization.id,
    get environment() {
      return variables
    },
  }
  const prepared = createPrepareDispatch({
    ...{ db: reader, box, tokens, publicUrl, reading },
    learn: secrets.learn,
  })
  notifier.onChange(prepared.forget)
  const prepareDispatch = { ...prepared, forget: notifier.forget }
  const runCall = createCalls({ settings, db, reader, commits, egress, publicUrl, wake, onDefect })
  const onSuspend = (target: SandboxTarget, reason: string) => suspensions.suspend(target, reason)
  const publish = (organizationId: string, event: unknown) =>
    publishEvent(commits, wake, organizationId, event, metrics.observeEvent)
  const starting = startSandboxes(
    {
      ...{ begunWall, settings, dataDir, runCall, logs, logger, metrics, onSuspend },
      onReceipt: receipts.take,
    },
    ends,
  )
  const source: PluginSource = {
    ...{ db, box, place: delivering.hostId, reading, pluginsDir: settings.PLUGINS_DIR },
    hasOthers: dialect === 'postgres' && !settings.PLUGINS_COMPLETE,
    dataDir,
    tryLoad: async (integration, code) => (await starting).tryLoad(integration, code),
  }
  const onLoaded = () => {
    notifier.forget()
    // A new version lifts a suspension: what has waited is due.
    wake()
  }
  const [{ sandboxes, wall }, folders] = await both(
    starting,
    loadFolders(
      {
        ...{ settings, source, publish, onLoaded, logs, logger, onDefect },
        readVariables() {
          variables = readVariables()
        },
      },
      ends,
    ),
  )
  const suspensions = createSuspensions({
    ...{ db, logs, onDefect },
    forget: prepareDispatch.forget,
    forgive: sandboxes.forgive,
    wake,
    onSuspend: ({ key, integration }, reason) => logger.warn({ key, integration, reason }, 'suspended'),
  })
  const report = createReportFailure(logs, onDefect)

  // In this order they end: what is under way may need all that has begun since.
  let drainUntilMs = 0
  ends.defer(() => sandboxes.drain(drainUntilMs - performance.now()))
  ends.defer(() => delivering.outside.disposeAsync())
  const scripts = await startScripts(workerParts, { sandboxes, prepareDispatch, report })
  ends.defer(scripts.close)
  notifier.onWork(scripts)
  const workers = [scripts, deliveries]

  let stopping = false
  const app = createApp(
    {
      ...{ db, reader, longReader, box, signingSecrets, tokens, logs, receipts },
      ...{ sandboxes, prepareDispatch, publish, report, wake, changes, counts, publicUrl },
      ...{ reload: folders.reload, resume: suspensions.resume },
      authenticate: createAuthenticate(reader, tokens),
      readHops: createHops(hopsKey).read,
      limits: { bodyBytes: settings.SANDBOX_BODY_BYTES },
      ...{ version: packageJson.version, probeStorage: createStorageProbe(commits, dataDir) },
      wall,
      metrics,
      metricsAccess: { readers: settings.METRICS_ACCESS, isBehindProxy: settings.PUBLIC_URL !== '' },
      state: () => ({ workers: workers.length, stopping }),
      circuits: deliveries.circuits,
    },
    onDefect,
  )
  gate.open(app)
  ends.defer(runMaintenance({ db, longReader, retention: retentionOf(settings), wake, onDefect }))
  folders.watch()
  ends.defer(announce(dataDir, url))

  const setupToken = await issueSetupToken(db)
  logger.info({ version: packageJson.version, url, plugins: folders.plugins.length }, 'ready')
  const close = () => {
    stopping = true
    drainUntilMs = performance.now() + drainMs
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
    queueDelivery: (delivery) => queueDelivery(commits, wake, delivery),
    close,
  }
}

/** Both at the same time: one waits for processes while the other works. When one fails, the other has come to its end, too. */
async function both<One, Other>(one: Promise<One>, other: Promise<Other>): Promise<[One, Other]> {
  await Promise.allSettled([one, other])
  return Promise.all([one, other])
}

/** Of each setting 0 is no limit. */
function retentionOf({ RETENTION_DAYS, RETENTION_ROWS, RETENTION_MB }: Settings): Retention {
  const limit = (value: number, unit: number) => (value === 0 ? undefined : value * unit)
  return {
    ageMs: limit(RETENTION_DAYS, 86_400_000),
    rows: limit(RETENTION_ROWS, 1),
    bytes: limit(RETENTION_MB, 1024 * 1024),
  }
}
