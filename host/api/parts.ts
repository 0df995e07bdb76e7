import type { ScriptTokens } from '../access/script-tokens.ts'
import type { SecretBox } from '../access/secret-box.ts'
import type { Db } from '../db/db.ts'
import type { StorageProbe } from '../db/probe-storage.ts'
import type { Hops } from '../egress/loop-guard.ts'
import type { PublishEvent } from '../events/publish-event.ts'
import type { PrepareDispatch } from '../installations/prepare-dispatch.ts'
import type { ReportFailure } from '../installations/report-failure.ts'
import type { Suspensions } from '../installations/suspend.ts'
import type { LogWriter } from '../logs/create-log-writer.ts'
import type { Metrics } from '../metrics/create-metrics.ts'
import type { Circuits } from '../queue/fairness.ts'
import type { ReceiptWriter } from '../sandbox/receipt-writer.ts'
import type { Sandboxes } from '../sandbox/sandboxes.ts'
import type { Wall } from '../sandbox/wall/levels.ts'
import type { LoadedPlugin } from '../versions/load-plugins.ts'
import type { Changes } from '../webhooks/operating/changes.ts'
import type { DeliveryCounts } from '../webhooks/operating/delivery-counts.ts'
import type { SecretReader } from '../webhooks/signing-secrets.ts'
import type { Authenticate } from './caller.ts'
import type { MetricsAccess } from './metrics-access.ts'

/** What the routes are made of. Each takes the parts that it needs. */
export type RouteParts = {
  db: Db
  /** For who only reads, and must not wait while something is stored. */
  reader: Db
  /** For what may read a million rows: lists and sums. */
  longReader: Db
  box: SecretBox
  /** What deliveries are signed with. */
  signingSecrets: SecretReader
  tokens: ScriptTokens
  authenticate: Authenticate
  publish: PublishEvent
  prepareDispatch: PrepareDispatch
  sandboxes: Sandboxes
  logs: LogWriter
  receipts: ReceiptWriter
  report: ReportFailure
  resume: Suspensions['resume']
  /** Tells the worker that there is work. */
  wake: () => void
  /** The same of a resend. */
  wakeResends: () => void
  /** Tells when deliveries have changed. */
  changes: Changes
  counts: DeliveryCounts
  /** Reads all plugin folders and spaces again. */
  reload: () => Promise<LoadedPlugin[]>
  publicUrl: () => string
  /** Through how many scripts a request has come, by the header that Annex signed. */
  readHops: Hops['read']
  limits: { bodyBytes: number }
  /** Whether what is to be stored is taken. */
  probeStorage: StorageProbe
  /** Of this Annex. */
  version: string
  /** What stands between a script and this machine, as it was tried at start. */
  wall: Wall
  metrics: Metrics
  metricsAccess: MetricsAccess
  /** How many workers take jobs, and whether Annex is on its way down. */
  state: () => { workers: number; stopping: boolean }
  /** Which endpoints this host leaves alone for a while. */
  circuits: Circuits
}
