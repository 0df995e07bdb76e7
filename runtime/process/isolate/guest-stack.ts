import { withoutPlatformFrames } from '../../platform-frames.ts'

const longestName = 200
const longestMessage = 8192
const longestStack = 8192
/** A text of millions of lines would take this process's time and memory, not the guest's. */
const stackLooked = 32_768
/** Of an object that is no Error, isolated-vm hands on nothing. */
const saidOfObject = 'An object was thrown from supplied code within isolated-vm'
const objectText = 'an object that is no Error: the log shows what an Error carries'
/** Behind it stand the frames of this process. */
const boundary = '\n    at (<isolated-vm boundary>)'

/** An error of a script as bounded text: its message, its own frames and what stands below them. */
export function describeGuestError(error: unknown): { name: string; message: string; stack: string } {
  const found = error instanceof Error ? error : new Error(String(error).slice(0, longestMessage))
  const name = found.name.slice(0, longestName)
  const isObject = found.message.startsWith(saidOfObject)
  const message = isObject ? objectText : found.message.slice(0, longestMessage)
  // What fails while a script is loaded is an Error here, whose message begins with the name that it had inside.
  const named = name === 'Error' ? /^(\w{1,100}Error): (.*)$/s.exec(message) : null
  const said = { name: named?.[1] ?? name, message: named?.[2] ?? message }
  return { ...said, stack: `${said.name}: ${said.message}${ownFrames(found)}`.slice(0, longestStack) }
}

/** Without the lines that name the error, and without paths of this machine. */
function ownFrames({ name, message, stack = '' }: Error): string {
  const title = `${name}: ${message}`
  const end = stack.lastIndexOf(boundary)
  const ofGuest = stack.slice(0, end < 0 ? stack.length : end)
  const below = ofGuest.startsWith(title) ? ofGuest.slice(title.length) : ofGuest
  return withoutPlatformFrames(below.slice(0, stackLooked))
    .split('\n')
    .slice(1)
    .filter((line) => line.includes('annex:') || !line.trimStart().startsWith('at '))
    .map((line) => `\n${line}`)
    .join('')
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
