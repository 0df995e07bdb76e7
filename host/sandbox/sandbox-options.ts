import type { LogLevel } from '../../runtime/bridge.ts'

/** What one sandbox may use. Every limit is a setting: see `settings-table.ts` for units and defaults. */
export type SandboxLimits = {
  heapMb: number
  residentMb: number
  cpuMs: number
  loadMs: number
  wallMs: number
  waitUntilMs: number
  /** Of a request, an answer or an outbound body, however it crosses. */
  bodyBytes: number
  /** Of a body that a script sends out into the world. */
  fetchBytes: number
  calls: number
  callsAtOnce: number
  fetches: number
  timers: number
  /** Whether scripts may make code from text. */
  allowEval?: boolean
  logLines: number
  logBytes: number
}

/** A dispatch has come to a limit that does not end it: the integration, and the limit's id in `limits-table.ts`. */
export type OnLimit = (integration: string, limit: string) => void

/** Who logged a line: a script, and in which request, as far as that is known; else the process itself. */
export type LogSource = { integration: string; installationId?: string; requestId?: string }
export type ScriptLog = (source: LogSource | undefined, level: LogLevel, text: string) => void

/** What isolates are made of: the prelude, or its snapshot. Of a prelude each process makes a snapshot by itself. */
export type PlatformSource = { text: string } | { body: Buffer }
