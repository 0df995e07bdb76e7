import type { LogLevel } from '../../bridge.ts'
import type { Wire } from '../bridge/wire.ts'
import { formatLine } from './format.ts'

const labelLimit = 100

/** Console standard: each call is one line of the installation's log. */
export const createConsole = (wire: Wire): Record<string, unknown> => {
  let indent = ''
  const counts = new Map<string, number>()
  const starts = new Map<string, number>()
  const write = (level: LogLevel, values: unknown[]) => wire.log(level, indent + formatLine(values))
  const at =
    (level: LogLevel) =>
    (...values: unknown[]): void =>
      write(level, values)
  const elapsed = (label: unknown, values: unknown[]): void => {
    const start = starts.get(`${label}`)
    if (start === undefined) return write('warn', [`There is no timer named "${label}"`])
    write('info', [`${label}: ${Date.now() - start} ms`, ...values])
  }
  const remember = (map: Map<string, number>, label: unknown, value: number): void => {
    // Labels are the script's: without a limit they would be its way to fill memory through our hands.
    if (map.size < labelLimit || map.has(`${label}`)) map.set(`${label}`, value)
  }

  const operations = {
    log: at('info'),
    info: at('info'),
    debug: at('debug'),
    warn: at('warn'),
    error: at('error'),
    dir: (...values: unknown[]) => write('info', values.slice(0, 1)),
    dirxml: at('info'),
    table: (...values: unknown[]) => write('info', values.slice(0, 1)),
    trace: (...values: unknown[]) => {
      const said = values.length === 0 ? 'Trace' : `Trace: ${formatLine(values)}`
      const stack: unknown = new Error().stack
      write('debug', [typeof stack === 'string' ? said + stack.slice(stack.indexOf('\n')) : said])
    },
    assert: (...given: unknown[]) => {
      if (given[0]) return
      const [first, ...others] = given.slice(1)
      // Console standard, 1.1: a text stays the first value, so that it is the format of those behind it.
      if (typeof first === 'string') write('error', [`Assertion failed: ${first}`, ...others])
      else write('error', ['Assertion failed', ...given.slice(1)])
    },
    clear: () => undefined,
    count: (label: unknown = 'default') => {
      const count = (counts.get(`${label}`) ?? 0) + 1
      remember(counts, label, count)
      write('info', [`${label}: ${count}`])
    },
    countReset: (label: unknown = 'default') => void counts.delete(`${label}`),
    group: (...values: unknown[]) => {
      if (values.length > 0) write('info', values)
      if (indent.length < 20) indent += '  '
    },
    groupCollapsed: (...values: unknown[]) => {
      if (values.length > 0) write('info', values)
      if (indent.length < 20) indent += '  '
    },
    groupEnd: () => {
      indent = indent.slice(2)
    },
    time: (label: unknown = 'default') => remember(starts, label, Date.now()),
    timeLog: (label: unknown = 'default', ...values: unknown[]) => elapsed(label, values),
    timeEnd: (label: unknown = 'default') => {
      elapsed(label, [])
      starts.delete(`${label}`)
    },
  }
  // A namespace object: nothing but its operations, over an empty prototype of its own.
  const console = Object.assign(Object.create({}) as Record<string, unknown>, operations)
  Object.defineProperty(console, Symbol.toStringTag, { value: 'console', configurable: true })
  return console
}
