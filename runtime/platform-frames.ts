/**
 * The name of the prelude in stacks. An integration's code is called `annex:NAME`, and no name of one has an
 * underscore.
 */
export const platformFile = 'annex:_platform'

const { apply } = Reflect
const { exec } = RegExp.prototype
const { indexOf, slice } = String.prototype
const frameOfOurs = /^\s*at (?:.*[ (])?annex:(?:_platform:\d+:\d+|[A-Za-z0-9-]+:1:1)\)?$/

/**
 * A text without the frames of the prelude, and without the call that a bundle is wrapped in: no author has a file for
 * them. Built-ins as they were before any script ran: inside an isolate a script may replace them.
 */
export const withoutPlatformFrames = (text: string): string => {
  if (apply(indexOf, text, ['annex:']) < 0) return text
  let kept = ''
  for (let at = 0; at <= text.length; ) {
    const found = apply(indexOf, text, ['\n', at]) as number
    const end = found < 0 ? text.length : found
    const line = apply(slice, text, [at, end]) as string
    if (apply(exec, frameOfOurs, [line]) === null) kept += at === 0 ? line : `\n${line}`
    at = end + 1
  }
  return kept
}
