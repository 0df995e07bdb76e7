import type { Logger } from 'pino'
import type { StoredLine } from '../logs/create-log-writer.ts'
import { toVisible } from '../manifest/message-text.ts'

type Output = { isTTY?: boolean; hasColors?: () => boolean; write: (text: string) => unknown }

const colors: Record<string, number> = { error: 31, warn: 33 }

/**
 * Shows what scripts log while Annex watches their folders: as text on a terminal, else as lines of the log. LOG_LEVEL
 * holds for both. Nothing of a script acts on the terminal.
 */
export function createLineReport({ logger, output }: { logger: Logger; output: Output }) {
  return (line: StoredLine): void => {
    const level = toLevel(line.level)
    if (!logger.isLevelEnabled(level)) return
    if (output.isTTY === true) output.write(`${formatLine(line, output.hasColors?.() === true)}\n`)
    else {
      const { integration, installationId, requestId, frame, text } = line
      logger[level]({ integration, installationId, requestId, frame }, text)
    }
  }
}

/** Further lines are indented: a script cannot make one look like a line of another. */
function formatLine({ integration, level, text, frame }: StoredLine, color: boolean): string {
  const shown = color ? `\x1b[${colors[level] ?? 2}m${level.padEnd(5)}\x1b[0m` : level.padEnd(5)
  const rows = text.split('\n').map(toVisible)
  const frameRows = frame === undefined ? [] : frame.split('\n')
  return `${shown} ${integration} ${[...rows, ...frameRows].join('\n    ')}`
}

const toLevel = (level: string): 'debug' | 'info' | 'warn' | 'error' =>
  level === 'error' || level === 'warn' || level === 'debug' ? level : 'info'
