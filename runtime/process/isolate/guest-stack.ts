import { withoutPlatformFrames } from '../../platform-frames.ts'

const longestName = 200
const longestMessage = 8192
const longestStack = 8192
/** A text of millions of lines would take CPU time and memory that no limit counts. */
const stackRead = 32_768
/** The text of isolated-vm for a thrown object that is no Error: its fields are lost. */
const objectMessage = 'An object was thrown from supplied code within isolated-vm'
const objectText = 'an object that is no Error: the log shows what an Error carries'
/** The frames of this process follow it. */
const boundary = '\n    at (<isolated-vm boundary>)'

/** An error of a script as bounded text: its message and the script's frames. */
export function describeGuestError(error: unknown): { name: string; message: string; stack: string } {
  const found = error instanceof Error ? error : new Error(String(error).slice(0, longestMessage))
  const name = found.name.slice(0, longestName)
  const isObject = found.message.startsWith(objectMessage)
  const message = isObject ? objectText : found.message.slice(0, longestMessage)
  // An error of a script that is being loaded is an Error here. Its message begins with its name in the isolate.
  const named = name === 'Error' ? /^(\w{1,100}Error): (.*)$/s.exec(message) : null
  const described = { name: named?.[1] ?? name, message: named?.[2] ?? message }
  return {
    ...described,
    stack: `${described.name}: ${described.message}${ownFrames(found)}`.slice(0, longestStack),
  }
}

/** Without the lines of the message, and without paths of this machine. */
function ownFrames({ name, message, stack = '' }: Error): string {
  const title = `${name}: ${message}`
  const end = stack.lastIndexOf(boundary)
  const ofGuest = stack.slice(0, end < 0 ? stack.length : end)
  const below = ofGuest.startsWith(title) ? ofGuest.slice(title.length) : ofGuest
  return withoutPlatformFrames(below.slice(0, stackRead))
    .split('\n')
    .slice(1)
    .filter((line) => line.includes('annex:') || !line.trimStart().startsWith('at '))
    .map((line) => `\n${line}`)
    .join('')
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
