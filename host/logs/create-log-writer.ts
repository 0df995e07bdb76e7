import type { Db } from '../db/db.ts'
import { insertLogs, type LogRow, pruneLogs } from '../db/queries/logs.ts'
import { createWriteBehind } from '../db/write-behind.ts'
import type { KnownSecrets } from './known-secrets.ts'

/** `version`: the digest of the version that ran, for the positions in the text. It is not stored. */
export type LogLine = Omit<LogRow, 'id' | 'at'> & { version?: string | undefined }

/** Stores log lines of scripts, for `annex logs` and the API. */
export type LogWriter = {
  /** A line of a script. A script that floods the log loses lines of its own. */
  write: (line: LogLine) => void
  /** A line of the host about a script: a flood of the script's lines does not displace it. */
  report: (line: LogLine) => void
  /** The follower gets each further line, once it is stored. */
  follow: (follower: (line: StoredLine) => void) => void
  /** Settles when all lines so far are in the database. */
  flush: () => Promise<void>
  close: () => Promise<void>
}

/**
 * Turns positions in a version's lines into the author's files and lines.
 *
 * @param version its digest; default: the deployed one
 * @returns `frame`: the source around the first position
 */
export type ToSource = (
  integration: string,
  version: string | undefined,
) => Promise<{
  map: (text: string) => string
  frame: (text: string) => string | undefined
}>

/** `frame`: the source around the position of an error. */
export type StoredLine = Omit<LogRow, 'id'> & { frame?: string | undefined }

const flushEveryMs = 100
/** Waiting lines of one installation, and of all together. */
const maxOfOne = 1_000
const maxOfAll = 20_000
const keptOfOne = 10_000
const pruneEveryLines = 2_000
/** The host handles requests between two groups of a flood of long lines. */
const linesAtOnce = 100

type Waiting = LogLine & { at: number }

/** Stores lines in groups: a line costs no commit of its own. */
export function createLogWriter(
  db: Db,
  given: { toSource: ToSource; redact: KnownSecrets['redact']; onDefect: (error: unknown) => void },
): LogWriter {
  const { toSource, redact, onDefect } = given
  let waiting: Waiting[] = []
  let follower: ((line: StoredLine) => void) | undefined
  const counts = new Map<string, number>()
  const sincePrune = new Map<string, number>()
  const writing = createWriteBehind(store, flushEveryMs, onDefect)
  return {
    write(line) {
      const owner = ownerOf(line)
      const count = (counts.get(owner) ?? 0) + 1
      counts.set(owner, count)
      if (count < maxOfOne && waiting.length < maxOfAll) return add(line)
      if (count === maxOfOne)
        add({ ...line, level: 'warn', text: 'Too many lines at once: some are dropped here.' })
    },
    report: add,
    follow(given) {
      follower = given
    },
    flush: writing.flush,
    close: writing.close,
  }

  function add(line: LogLine): void {
    waiting.push({ ...line, at: Date.now() })
    writing.note()
  }

  async function store(): Promise<void> {
    const lines = waiting
    waiting = []
    counts.clear()
    if (lines.length === 0) return
    for (const [integration, own] of Map.groupBy(lines, (line) => line.integration)) {
      for (const [version, lines] of Map.groupBy(own, (line) => line.version)) {
        await storeOf(integration, version, lines)
      }
      await prune(integration, own.length)
    }
  }

  async function storeOf(integration: string, version: string | undefined, own: Waiting[]): Promise<void> {
    const { map, frame } = await toSource(integration, version)
    for (let at = 0; at < own.length; at += linesAtOnce) {
      const rows = own.slice(at, at + linesAtOnce).map(({ version: _, ...line }) => ({
        ...line,
        // PostgreSQL keeps no U+0000 in a text.
        text: map(redact(ownerOf(line), line.text)).replaceAll('\0', '\uFFFD'),
      }))
      await insertLogs(db, rows)
      for (const [index, row] of rows.entries()) {
        const isError = row.level === 'error'
        follower?.({ ...row, ...(isError && { frame: frame(own[at + index]?.text ?? '') }) })
      }
    }
  }

  /** Each integration has its own share of the log: it cannot displace lines of another. */
  async function prune(integration: string, added: number): Promise<void> {
    const count = (sincePrune.get(integration) ?? 0) + added
    sincePrune.set(integration, count < pruneEveryLines ? count : 0)
    if (count >= pruneEveryLines) await pruneLogs(db, integration, keptOfOne)
  }
}

const ownerOf = ({ installationId, integration }: LogLine): string => installationId ?? integration
