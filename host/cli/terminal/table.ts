import { type Part, paint, type Terminal } from '../terminal.ts'
import { toSafeLine } from './safe-text.ts'

export type Cell = string | Exclude<Part, string | { escaped: string }>

/** Prints rows under their heads, columns aligned. Each cell takes one line, whatever is in it. */
export function printTable(terminal: Terminal, heads: string[], rows: Cell[][]): void {
  const texts = rows.map((row) => row.map((cell) => toSafeLine(typeof cell === 'string' ? cell : cell.text)))
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...texts.map((row) => row[column]?.length ?? 0)),
  )
  const pad = (text: string, column: number) =>
    column === heads.length - 1 ? text : text.padEnd((widths[column] ?? 0) + 2)
  terminal.print(paint('dim', heads.map(pad).join('')))
  for (const [index, row] of rows.entries()) {
    const parts = row.map((cell, column): Part => {
      const text = pad(texts[index]?.[column] ?? '', column)
      return typeof cell === 'string' ? text : { ...cell, text }
    })
    terminal.print(...parts)
  }
}

const statusStyles: Record<string, 'green' | 'yellow' | 'red'> = {
  active: 'green',
  delivered: 'green',
  done: 'green',
  loaded: 'green',
  pending: 'yellow',
  owed: 'yellow',
  due: 'yellow',
  waiting: 'yellow',
  running: 'yellow',
  stopped: 'yellow',
  retired: 'yellow',
  paused: 'yellow',
  moving: 'yellow',
  suspended: 'red',
  failed: 'red',
  disabled: 'red',
}

/** A status in the colour that it has everywhere. */
export function toStatus(status: string): Cell {
  const style = statusStyles[status]
  return style === undefined ? status : { text: status, style }
}
