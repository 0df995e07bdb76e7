import { withoutPlatformFrames } from '../../platform-frames.ts'
import { createRoom, formatValue, type Room, safely } from './format-value.ts'

/**
 * The values of one console call as one line of at most about 8192 characters, with `%s` and the like of the
 * first. Never throws: a proxy that throws is shown as such.
 */
export const formatLine = (values: unknown[]): string => {
  const room = createRoom()
  const parts: string[] = []
  let rest = values
  if (typeof values[0] === 'string' && values.length > 1 && values[0].includes('%')) {
    const taken = substitute(values[0], values.slice(1), room)
    parts.push(taken.text)
    rest = values.slice(1 + taken.used)
  }
  for (const value of rest) {
    if (room.left <= 0) break
    const text =
      typeof value === 'string' ? withoutPlatformFrames(value) : safely(() => formatValue(value, 0, room))
    room.left -= text.length
    parts.push(text)
  }
  return parts.join(' ')
}

/** Console standard, 2.2, "Formatter". */
const substitute = (template: string, values: unknown[], room: Room): { text: string; used: number } => {
  let used = 0
  const text = template.replace(/%([sdifjoOc%])/g, (whole, letter: string) => {
    if (letter === '%') return '%'
    if (used >= values.length) return whole
    const value = values[used++]
    return safely(() => substituted(letter, value, room))
  })
  return { text, used }
}

const substituted = (letter: string, value: unknown, room: Room): string => {
  if (letter === 's')
    return typeof value === 'object' ? formatValue(value, 2, room) : withoutPlatformFrames(String(value))
  if (letter === 'd' || letter === 'f') return String(isNoNumber(value) ? Number.NaN : Number(value))
  if (letter === 'i') return String(isNoNumber(value) ? Number.NaN : Number.parseInt(String(value), 10))
  if (letter === 'j') return JSON.stringify(value) ?? 'undefined'
  return letter === 'c' ? '' : formatValue(value, 0, room)
}

/** An object would be asked for one. */
const isNoNumber = (value: unknown): boolean =>
  typeof value === 'symbol' || typeof value === 'function' || (typeof value === 'object' && value !== null)
