import type { LogLevel } from '../../runtime/bridge.ts'

/** Limits of one sandbox. Each is a setting: `settings-table.ts` has units and defaults. */
export type SandboxLimits = {
  heapMb: number
  residentMb: number
  cpuMs: number
  loadMs: number
  wallMs: number
  waitUntilMs: number
  /** Of a request, an answer or an outbound body, however it crosses. */
  bodyBytes: number
  /** Of the body of an outbound request. */
  fetchBytes: number
  calls: number
  callsAtOnce: number
  fetches: number
  timers: number
  /** Whether scripts may compile code from text. */
  allowEval?: boolean
  logLines: number
  logBytes: number
}

/** A dispatch has reached a limit that does not end it. `limit`: the id in `limits-table.ts`. */
export type OnLimit = (integration: string, limit: string) => void

/** The script that logged a line with the digest of its version, and the request where it is known. */
export type LogSource = { integration: string; version?: string; installationId?: string; requestId?: string }
/** Without a source, the process itself logs. */
export type ScriptLog = (source: LogSource | undefined, level: LogLevel, text: string) => void
