import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import packageJson from '../package.json' with { type: 'json' }
import { openSecretBox } from './access/open-secret-box.ts'
import { createScriptTokens } from './access/script-tokens.ts'
import { issueSetupToken } from './access/tokens.ts'
import { createUses } from './access/uses.ts'
import type { SeeAnswer } from './api/operations.ts'
import type { LoadedSettings, Settings } from './config/load-settings.ts'
import { type Console, createConsole } from './console/files.ts'
import { createContentWriter } from './content/write-content.ts'
import { hostIdentity, openDataFolder } from './db/data-folder.ts'
import { createGroupCommit } from './db/group-commit.ts'
import { createNotifications } from './db/notifications.ts'
import { openDatabase } from './db/open-database.ts'
import { type NewDelivery, type QueuedDelivery, queueDeliveries } from './db/queries/deliveries.ts'
import { touchSession } from './db/queries/sessions.ts'
import { touchToken } from './db/queries/tokens.ts'
import { useSealer } from './db/sealed-json.ts'
import { createFetchPicture } from './dispatches/fetch-picture.ts'
import { createPictureKeys } from './dispatches/picture-keys.ts'
import { stoppingError } from './errors.ts'
import { publishEvent } from './events/publish-event.ts'
import { drainMs } from './http/listen.ts'
import { linkUrl, toNamed } from './http/own-address.ts'
import { createSettingsTag } from './installations/level-settings.ts'
import { createMissedCalls } from './installations/missed-calls.ts'
import { noteFoundStatuses } from './installations/note-status.ts'
import { createPermissionUses } from './installations/permission-uses.ts'
import { createPrepareDispatch } from './installations/prepare-dispatch.ts'
import { createReportFailure } from './installations/report-failure.ts'
import { createToSource } from './installations/source-maps.ts'
import { createSuspensions } from './installations/suspend.ts'
import { createLogWriter } from './logs/create-log-writer.ts'
import { createKnownSecrets } from './logs/known-secrets.ts'
import { createMetrics } from './metrics/create-metrics.ts'
import { readLoad } from './metrics/read-load.ts'
import { createActivityRecorder } from './metrics/record-activity.ts'
import type { StartProcess } from './sandbox/process/start-process.ts'
import { createReceiptWriter } from './sandbox/receipt-writer.ts'
import type { Sandboxes } from './sandbox/sandboxes.ts'
import type { Wall } from './sandbox/wall/levels.ts'
import { createLogger, createOnDefect, hostSecrets } from './start/create-logger.ts'
import { ensureCliToken, ensureOperator, type Samples } from './start/first-start.ts'
import { createFolders } from './start/load-folders.ts'
import { createNotifier } from './start/notifier.ts'
import { toUrl, writeServerFile } from './start/server-file.ts'
import { startApi } from './start/start-api.ts'
import { startEgress } from './start/start-egress.ts'
import { createCalls, declaredRules, type Reuse, startSandboxes } from './start/start-sandboxes.ts'
import { startDeliveries, startScripts } from './start/start-workers.ts'
import type { LoadedPlugin } from './versions/loaded-plugin.ts'
import { listPluginFolders } from './versions/plugins-dir.ts'
import { createDeliveryCounts } from './webhooks/delivery-counts.ts'
import { createDeliveryHosts } from './webhooks/delivery-hosts.ts'
import { runMaintenance } from './webhooks/maintenance.ts'
import { sendAttempt } from './webhooks/send-attempt.ts'
import { createSecretReader } from './webhooks/signing-secrets.ts'

export type RunningServer = {
  url: string
  settings: Settings
  /** Works once. Present only while there is no operator's account. */
  setupToken: string | undefined
  /** The page that takes the setup token. */
  setupUrl: string | undefined
  /** Where a person opens the console. At `127.0.0.1` the passkeys of `localhost` would not work. */
  consoleUrl: string
  plugins: LoadedPlugin[]
  samples: Samples
  sandboxes: Sandboxes
  console: Console
  /** The levels of isolation, as this start has tried them. */
  wall: Wall
  logger: Logger
  /** Stores a delivery, and wakes the worker that sends it. */
  queueDelivery: (delivery: NewDelivery) => Promise<QueuedDelivery>
  /** Stops taking requests and jobs, waits for those that run, and closes all parts. */
  close: () => Promise<void>
}

/**
 * Starts Annex: each part needs those above it. A failed start, and `close`, end the parts in reverse order. Annex answers
 * from the moment when it listens; the result comes when the plugin folders are loaded.
 *
 * @param given.startProcess tests hold sandboxes elsewhere: default is a process for each publisher, behind the wall
 * @param given.signal stops a start that is under way
 * @throws AnnexError `unavailable` after the signal
 */
export async function startServer(
  loaded: LoadedSettings,
  {
    seeAnswer,
    reuse,
    startProcess,
    signal,
  }: {
    seeAnswer?: SeeAnswer
    reuse?: Reuse | undefined
    startProcess?: StartProcess | undefined
    signal?: AbortSignal
  } = {},
): Promise<RunningServer> {
  await using ends = new AsyncDisposableStack()
  // A stop gives requests and their `waitUntil` promises the same deadline.
  const stop = new AbortController()
  let drainUntilMs = 0
  const beginStop = () => {
    drainUntilMs = performance.now() + drainMs
    stop.abort(stoppingError())
  }
  signal?.addEventListener('abort', beginStop)
  if (signal?.aborted) beginStop()
  ends.defer(() => signal?.removeEventListener('abort', beginStop))
  const { settings, readVariables } = loaded
  let { variables } = loaded
  const version = packageJson.version
  const secrets = createKnownSecrets(hostSecrets(settings))
  const logger = createLogger(settings.LOG_LEVEL, secrets.redactAny)
  const onDefect = createOnDefect(logger)

  // The folders and the database.
  const plugins = { path: settings.PLUGINS_DIR, isDefault: loaded.sources.PLUGINS_DIR === 'default' }
  await listPluginFolders(plugins)
  const dataDir = resolve(settings.DATA_DIR)
  ends.defer(
    await openDataFolder({ dataDir, databaseUrl: settings.DATABASE_URL, beside: [settings.PLUGINS_DIR] }),
  )
  const database = await openDatabase(settings.DATABASE_URL, dataDir)
  ends.defer(database.close)
  const { db, reader, longReader, dialect, clock } = database
  const box = await openSecretBox(db, settings.SECRET_KEY, dataDir)
  useSealer([db, reader, longReader], box)
  const commits = createGroupCommit(db)
  ends.defer(commits.close)
  const notifications = createNotifications(database, {
    onBroken: (error) => logger.warn({ err: error }, 'no notifications of other hosts for now'),
  })
  ends.defer(notifications.close)
  const hostId = hostIdentity(dataDir)
  const { organization, samples } = await ensureOperator(db, settings.OPERATOR_ORGANIZATION)
  await ensureCliToken(db, dataDir)

  // Secrets, logs and metrics.
  const signingSecrets = createSecretReader(box, clock)
  const hosts = createDeliveryHosts({ isRequired: settings.EGRESS_REQUIRE_DECLARED })
  const tokens = createScriptTokens(box.deriveKey('script tokens'))
  const logs = createLogWriter(db, { toSource: createToSource(db), redact: secrets.redact, onDefect })
  ends.defer(logs.close)
  const metrics = createMetrics()
  const counts = createDeliveryCounts(db, onDefect)
  ends.defer(counts.close)
  const receipts = createReceiptWriter(db, { redact: secrets.redact, onDefect })
  ends.defer(receipts.close)
  const activity = createActivityRecorder(db, onDefect)
  ends.defer(activity.close)
  const notifier = createNotifier(database, notifications)
  const { changes } = notifier
  const tokenUses = createUses((use) => touchToken(db, use), onDefect)
  ends.defer(tokenUses.close)
  const sessionUses = createUses((use) => touchSession(db, use), onDefect)
  ends.defer(sessionUses.close)
  const missedCalls = createMissedCalls(db, onDefect)
  ends.defer(missedCalls.close)
  const permissionUses = createPermissionUses(db, onDefect)
  ends.defer(permissionUses.close)

  let url = settings.PORT === 0 ? '' : toUrl(settings.HOST, settings.PORT)
  const publicUrl = () => settings.PUBLIC_URL.replace(/\/+$/, '') || url
  const hopsKey = box.deriveKey('hops')
  const { webhooks, egress, ownApi } = startEgress(
    { settings, version, hopsKey, ownUrl: () => url, publicUrl },
    ends,
  )

  // Deliveries need no script: after a crash they go on before plugins are loaded.
  const workerParts = { database, commits, hostId, settings, logger }
  const deliveries = await startDeliveries(workerParts, {
    secrets: signingSecrets,
    hosts,
    send: (delivery, secrets, options) => sendAttempt(webhooks, delivery, secrets, options),
    logs,
    onAttempt(seen) {
      metrics.observeAttempt(seen)
      counts.take(seen)
      activity.noteAttempt(seen)
      changes.notify()
    },
  })
  ends.defer(deliveries.close)
  notifier.onWork(deliveries)
  notifier.onChange(signingSecrets.forget)

  // Sandboxes and their wall.
  const reading = {
    operatorOrganization: settings.OPERATOR_ORGANIZATION,
    operatorOrganizationId: organization.id,
    get environment() {
      return variables
    },
  }
  const settingsTag = createSettingsTag(box.deriveKey('settings tags'))
  const prepareDispatch = createPrepareDispatch({
    db: reader,
    box,
    tokens,
    settingsTag,
    publicUrl,
    reading,
    learn: secrets.learn,
  })
  notifier.onChange(prepareDispatch.forget)
  const { sandboxes, tryLoad, wall } = await startSandboxes(
    {
      settings,
      dataDir,
      hostCalls: createCalls({
        ...{ settings, database, commits, box, egress, ownApi, hosts, publicUrl, onDefect },
        onMissed: missedCalls.note,
      }),
      logs,
      logger,
      metrics,
      onReceipt(receipt) {
        receipts.take(receipt)
        activity.noteDispatch(receipt)
      },
      onSuspend: (target, reason) => suspensions.suspend(target, reason),
      reuse,
      startProcess,
    },
    ends,
  )
  const suspensions = createSuspensions({
    db,
    logs,
    onDefect,
    forgive: sandboxes.forgive,
    onSuspend: ({ key, integration }, reason) => logger.warn({ key, integration, reason }, 'suspended'),
  })
  ends.defer(activity.watch(() => readLoad(longReader, sandboxes)))
  const report = createReportFailure(logs, onDefect)

  // Plugins and spaces.
  const publish = (organizationId: string, event: unknown) =>
    publishEvent(commits, organizationId, event, metrics.observeEvent)
  const content = createContentWriter({
    db,
    commits,
    hostId,
    quotaBytes: settings.CONTENT_QUOTA_MB * 1024 * 1024,
    onPublished: metrics.observeEvent,
  })
  const folders = createFolders(
    {
      settings,
      source: {
        db,
        box,
        hostId,
        reading,
        pluginsDir: settings.PLUGINS_DIR,
        isDefaultDir: plugins.isDefault,
        hasOthers: dialect === 'postgres' && !settings.PLUGINS_COMPLETE,
        dataDir,
        tryLoad,
      },
      content,
      readVariables() {
        variables = readVariables()
      },
      // Environment variables, too, are read anew.
      onLoaded: notifier.forget,
      logs,
      logger,
      onDefect,
      stop: stop.signal,
    },
    ends,
  )

  const webConsole = createConsole(join(dataDir, 'cache'))
  // The API answers before the folders are loaded: versions of an earlier start serve meanwhile.
  stop.signal.throwIfAborted()
  stop.signal.addEventListener('abort', () => changes.notify())
  ends.defer(() => sandboxes.drain(drainUntilMs - performance.now()))
  const listening = await startApi(
    {
      db,
      reader,
      longReader,
      box,
      settingsTag,
      tokens,
      logs,
      receipts,
      activity,
      sandboxes,
      prepareDispatch,
      reading,
      dataDir,
      settings,
      publish,
      content,
      report,
      onMissed: missedCalls.note,
      onScopeUsed: permissionUses.note,
      flushUses: permissionUses.flush,
      pictureKeys: createPictureKeys(box),
      fetchPicture: createFetchPicture(egress, declaredRules(settings, egress, publicUrl)),
      changes,
      counts,
      publicUrl,
      plugins: folders.plugins,
      firstLoad: folders.firstLoad,
      reload: folders.reload,
      load: folders.load,
      console: webConsole,
      resume: suspensions.resume,
      operatorOrganization: organization.id,
      pause: suspensions.pause,
      seeAnswer,
      version,
      wall,
      metrics,
      state: () => ({ workers: 2, stopping: stop.signal.aborted }),
      circuits: deliveries.circuits,
    },
    {
      ...{ commits, hopsKey, ownApi, onDefect, logger, onChange: notifier.onChange },
      noteUse: { token: tokenUses.note, session: sessionUses.note },
    },
  )
  ends.defer(listening.close)
  url = toUrl(settings.HOST, listening.port)
  logger.info({ version, url }, 'listening')

  // Both workers end before the API: handlers and deliveries may call it.
  ends.defer(deliveries.close)
  const scripts = await startScripts(workerParts, {
    ...{ sandboxes, prepareDispatch, report, secrets },
    onScopeUsed: permissionUses.note,
  })
  ends.defer(scripts.close)
  notifier.onWork(scripts)

  // Housekeeping, and the folders.
  ends.defer(runMaintenance({ db, longReader, settings, onDefect }))
  ends.defer(writeServerFile(dataDir, url))
  await folders.reload()
  const noting = noteFoundStatuses(db, stop.signal).catch(onDefect)
  ends.defer(() => noting)
  folders.watch()
  const setupToken = await issueSetupToken(db)
  logger.info({ version, url, plugins: folders.plugins().length }, 'ready')

  const started = ends.move()
  return {
    url,
    settings,
    setupToken,
    setupUrl: setupToken && linkUrl(publicUrl(), '/setup', setupToken),
    consoleUrl: toNamed(publicUrl()),
    plugins: [...folders.plugins()],
    samples,
    sandboxes,
    console: webConsole,
    wall,
    logger,
    queueDelivery: (delivery) => commits.store(queueDeliveries, delivery),
    close() {
      beginStop()
      return started.disposeAsync()
    },
  }
}
