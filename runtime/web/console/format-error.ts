import { withoutPlatformFrames } from '../../platform-frames.ts'
import {
  cut,
  getOwnPropertyDescriptor,
  indexOfText,
  isArray,
  reflectApply,
  sliceText,
} from '../primordials.ts'

const stackLimit = 8192
/** Of a stack that may be any text. Frames of the platform do not count against `stackLimit`. */
const stackLooked = 4 * stackLimit
const nameLimit = 200

const inherits = Object.prototype.isPrototypeOf
const errorPrototype = Error.prototype

/** Also those of the old kind, which only inherit from Error. Throws for a proxy whose trap throws. */
export const isError = (value: object): boolean => reflectApply(inherits, errorPrototype, [value])

/** How to show what an error carries. */
export type ShowCarried = {
  value: (value: unknown) => string
  /** Own properties but for those that are named. */
  properties: (error: object, without: readonly string[]) => string
  list: (items: readonly unknown[], show: (item: unknown, index: number) => string) => string[]
}

/** The stack, with name and message as they are now; below it the error's own properties, its errors and its cause. */
export const formatError = (error: object, show: ShowCarried): string => {
  let text = cut(titleAndFrames(error), stackLimit)
  const properties = show.properties(error, shownElsewhere)
  if (properties !== '{}') text += `\n  ${properties}`
  const errors = ownValue(error, 'errors')
  if (isArray(errors)) {
    const lines = show.list(errors, (item, index) => `\n  errors[${index}]: ${show.value(item)}`)
    for (let i = 0; i < lines.length; i++) text += lines[i]
  }
  const cause = ownValue(error, 'cause')
  return cause === undefined ? text : `${text}\n  caused by: ${show.value(cause)}`
}

const shownElsewhere = ['name', 'message', 'stack', 'cause', 'errors']

/** Error.prototype.toString of what name and message are now. */
export const titleOf = (error: object): string => {
  const name = read(error, 'name')
  const message = read(error, 'message')
  const named = typeof name === 'string' ? cut(name, nameLimit) : 'Error'
  const said = typeof message === 'string' ? cut(message, stackLimit) : ''
  return named === '' ? said : said === '' ? named : `${named}: ${said}`
}

/** V8 writes the first line of a stack when an error is made: name and message may have changed since. */
const titleAndFrames = (error: object): string => {
  const title = titleOf(error)
  const stack = read(error, 'stack')
  if (typeof stack !== 'string' || stack === '') return title
  const own = withoutPlatformFrames(cut(stack, stackLooked))
  if (indexOfText(own, title, 0) === 0) return own
  const frames = indexOfText(own, '\n    at ', 0)
  const first = indexOfText(own, '\n', 0)
  // One line before the frames is V8's. More than that is a text of the script, and stays.
  return frames >= 0 && frames === first ? title + sliceText(own, frames, own.length) : `${title}\n${own}`
}

/** Reads a property of a hostile object: a getter or a proxy may throw. */
const read = (from: object, key: string): unknown => {
  try {
    return (from as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}

const ownValue = (from: object, key: string): unknown => getOwnPropertyDescriptor(from, key)?.value
