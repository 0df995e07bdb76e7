const longestName = 200
const longestMessage = 8192
/** The frames stand at the end. A text of millions of lines would take this process's time and memory, not the guest's. */
const stackLooked = 32_768

/** An error of a script as bounded text: its message and its own frames. The other frames are paths of this machine. */
export function describeGuestError(error: unknown): { name: string; message: string; stack: string } {
  const found = error instanceof Error ? error : new Error(String(error).slice(0, longestMessage))
  const name = found.name.slice(0, longestName)
  const message = found.message.slice(0, longestMessage)
  const frames = (found.stack ?? '')
    .slice(-stackLooked)
    .split('\n')
    .filter((line) => line.includes('annex:') && line.trimStart().startsWith('at '))
  // What fails while a script is loaded is an Error here, whose message begins with the name that it had inside.
  const named = name === 'Error' ? /^(\w{1,100}Error): (.*)$/s.exec(message) : null
  const said = { name: named?.[1] ?? name, message: named?.[2] ?? message }
  return { ...said, stack: [`${said.name}: ${said.message}`, ...frames].join('\n').slice(0, 8192) }
}
