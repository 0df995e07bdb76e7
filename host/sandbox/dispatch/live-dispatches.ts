import { createIdTable } from '../../../runtime/process/id-table.ts'
import type { OutboundRequests } from '../../egress/outbound-requests.ts'
import type { Usage } from '../process/connection.ts'
import { emptyReceipt, type OnReceipt, type Receipt } from '../receipt.ts'
import { bodyBrokeOffError } from '../sandbox-errors.ts'
import type { DispatchContext, DispatchOutcome, SandboxTarget, Visitor } from '../target.ts'
import type { BodySink, BodySource } from './body-streams.ts'

/** How often a dispatch that had not begun moves to another process. */
export const maxMoves = 5

/** A dispatch that waits for its answer, wherever it runs. It can move to another process until it begins. */
export type QueuedDispatch = {
  target: SandboxTarget
  /** The environment as JSON text: it is sent once for each change, not with each dispatch. */
  environment: string
  /** As the text of `dispatch` in `runtime/bridge.ts`. */
  message: string
  body: DispatchOutcome['body']
  context: DispatchContext
  visitor: Visitor | undefined
  /** When it was asked for (monotonic). It waits for its turn for a limited time. */
  askedMs: number
  /** Called when its turn has come. */
  onBegin?: (() => void) | undefined
  /** How many processes have died before it began. */
  moves: number
  resolve: (outcome: DispatchOutcome) => void
  reject: (error: Error) => void
}

/** A dispatch in a process, until it is `done`: `waitUntil` promises and streams included. */
export type LiveDispatch = {
  id: number
  sandbox: number
  queued: QueuedDispatch
  startedAtMs: number
  /** Its script has begun with it, as of the last look at the black box. */
  hasBegun: boolean
  /** Monotonic, as are the two times below. */
  sentMs: number
  answeredMs: number | undefined
  /** As in a receipt. */
  outcome: string
  /** HTTP status of its answer, where it gave one. */
  status: number | undefined
  /** The dispatch times out so long after `movedMs`: the wall clock limit until the answer, then that of `waitUntil`. */
  patienceMs: number
  /** When it was sent or answered, or a piece of its bodies came. */
  movedMs: number
  /** Calls of the script to the host, running ones by id so that they can be abandoned. */
  calls: number
  egressCalls: number
  deliveries: number
  tasks: number
  egressBytes: number
  requests: OutboundRequests | undefined
  logLines: number
  logBytes: number
  running: Map<number, AbortController> | undefined
  /** Bodies on their way into the sandbox and out of it: 0 is the dispatch's own, the others are those of calls. */
  sources: Map<number, BodySource> | undefined
  sinks: Map<number, BodySink> | undefined
}

export const isAnswered = (live: LiveDispatch): boolean => live.answeredMs !== undefined

/** The dispatches of one process, each from when it is sent until it is done. */
export type LiveDispatches = {
  /** Ids rise by one: the black box tells by them which dispatches have begun. */
  add: (sandbox: number, queued: QueuedDispatch) => LiveDispatch
  get: (id: number) => LiveDispatch | undefined
  ofSandbox: (sandbox: number) => LiveDispatch[]
  all: () => LiveDispatch[]
  count: () => number
  /**
   * Timed-out dispatches. A timer for each would cost more: most dispatches end after a few milliseconds. The time of a
   * dispatch begins when its script runs, after the last one that has begun (`lastBegun`).
   */
  expired: (lastBegun: number) => LiveDispatch[]
  /** Ends the dispatch, its streams and its host calls, and gives its receipt, once `reportUsage` has come if it is to come. */
  end: (live: LiveDispatch, usage?: Usage | 'reported later') => void
  /** Ends the dispatch without a receipt: it has not begun, and runs elsewhere. */
  takeBack: (live: LiveDispatch) => QueuedDispatch
  /** The usage of an abandoned dispatch. */
  reportUsage: (id: number, usage: Usage) => void
  /** Gives receipts without usage where the process has not reported in time. */
  giveUpUsage: (of: 'late' | 'all') => void
  /** No dispatch runs, and no receipt waits for its usage. */
  isEmpty: () => boolean
}

export const noUsage: Usage = { cpuMs: 0, heapBytes: 0 }

/** Longer than a stretch of guest code may be: the process reads frames only after it. */
const usagePatienceMs = 5_000

/** @param given.release is called once for each dispatch, whatever has ended it */
export function createLiveDispatches(given: {
  wallMs: number
  release: (sandbox: number) => void
  onReceipt: OnReceipt
}): LiveDispatches {
  const { wallMs, onReceipt } = given
  const lives = createIdTable<LiveDispatch>(1024)
  /** Receipts that wait for their usage, the oldest first. */
  const unreported = new Map<number, { receipt: Receipt; untilMs: number }>()
  let count = 0
  let lastId = 0
  return {
    add(sandbox, queued) {
      lastId += 1
      const id = lastId
      const sentMs = performance.now()
      const live: LiveDispatch = {
        id,
        sandbox,
        queued,
        startedAtMs: Date.now(),
        hasBegun: false,
        sentMs,
        answeredMs: undefined,
        outcome: 'sandbox_died',
        status: undefined,
        patienceMs: wallMs,
        movedMs: sentMs,
        calls: 0,
        egressCalls: 0,
        deliveries: 0,
        tasks: 0,
        egressBytes: 0,
        requests: undefined,
        logLines: 0,
        logBytes: 0,
        running: undefined,
        sources: undefined,
        sinks: undefined,
      }
      lives.set(id, live)
      count += 1
      return live
    },
    get: lives.get,
    ofSandbox: (sandbox) => lives.values().filter((live) => live.sandbox === sandbox),
    all: lives.values,
    count: () => count,
    expired(lastBegun) {
      if (count === 0) return []
      const now = performance.now()
      return lives.values().filter((live) => {
        live.hasBegun ||= live.id <= lastBegun || isAnswered(live)
        if (live.hasBegun) return now - live.movedMs > live.patienceMs
        live.sentMs = live.movedMs = now
        return now - live.queued.askedMs > live.patienceMs
      })
    },
    end(live, usage = noUsage) {
      if (!remove(live)) return
      if (usage !== 'reported later') return onReceipt(toReceipt(live, usage))
      const untilMs = performance.now() + usagePatienceMs
      unreported.set(live.id, { receipt: toReceipt(live, noUsage), untilMs })
    },
    takeBack(live) {
      remove(live)
      return live.queued
    },
    reportUsage(id, { cpuMs, heapBytes }) {
      const found = unreported.get(id)
      if (found === undefined) return
      unreported.delete(id)
      onReceipt({ ...found.receipt, cpuMs, heapBytes })
    },
    giveUpUsage(of) {
      if (unreported.size === 0) return
      const nowMs = of === 'all' ? Number.POSITIVE_INFINITY : performance.now()
      for (const [id, { receipt, untilMs }] of unreported) {
        if (untilMs > nowMs) return
        unreported.delete(id)
        onReceipt(receipt)
      }
    },
    isEmpty: () => count === 0 && unreported.size === 0,
  }

  function remove(live: LiveDispatch): boolean {
    if (lives.get(live.id) !== live) return false
    lives.delete(live.id)
    count -= 1
    for (const controller of live.running?.values() ?? []) controller.abort()
    for (const source of live.sources?.values() ?? []) source.close()
    for (const sink of live.sinks?.values() ?? []) sink.fail(bodyBrokeOffError())
    given.release(live.sandbox)
    return true
  }
}

function toReceipt(live: LiveDispatch, usage: Usage): Receipt {
  const receipt = emptyReceipt(live.queued.context, live.outcome, live.startedAtMs)
  receipt.cpuMs = usage.cpuMs
  receipt.wallMs = (live.answeredMs ?? performance.now()) - live.sentMs
  receipt.heapBytes = usage.heapBytes
  receipt.egressCalls = live.egressCalls
  receipt.egressBytes = live.egressBytes
  receipt.requests = live.requests
  receipt.hostCalls = live.calls
  receipt.deliveries = live.deliveries
  receipt.tasks = live.tasks
  // The answer to an event goes to no visitor: status 406 means that the script has no handler.
  if (receipt.eventId !== undefined && live.status === 406) receipt.outcome = 'no_handler'
  else if (live.status !== undefined) receipt.status = live.status
  return receipt
}
