/** What one dispatch has used, `waitUntil` included. Every dispatch has exactly one, also one that failed. */
export type Receipt = {
  requestId: string
  integration: string
  installationId?: string
  organizationId?: string
  /** `event.type` of the dispatch: `fetch`, `task`, `space_content_updated` … */
  type: string
  /** The event or task that it was for. */
  eventId?: string
  /** When it was sent to its sandbox, in ms since 1970. */
  startedAtMs: number
  /** CPU time of the isolate. */
  cpuMs: number
  /** From being sent until its answer. */
  wallMs: number
  /** The largest heap of the isolate that was seen during the dispatch. */
  heapBytes: number
  /** Outbound requests, and the bytes of their bodies both ways. */
  egressCalls: number
  egressBytes: number
  /** Every host call, outbound requests included. */
  hostCalls: number
  /** `ok`, `no_handler` of an event or task that the script has none for, `script_error` when the script threw, or the code of the error that ended the dispatch. */
  outcome: string
  /** HTTP status of the answer, where the script gave one. */
  status?: number
}

/** Whether nothing went wrong. */
export const isOk = ({ outcome }: Pick<Receipt, 'outcome'>): boolean =>
  outcome === 'ok' || outcome === 'no_handler'

/** Takes a receipt. Called for every dispatch, so it must cost next to nothing. */
export type OnReceipt = (receipt: Receipt) => void
