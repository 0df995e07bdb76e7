/** An error of a script as text: its message and its own frames. The other frames are paths of this machine. */
export function describeGuestError(error: unknown): { name: string; message: string; stack: string } {
  const { name, message, stack = '' } = error instanceof Error ? error : new Error(String(error))
  const frames = stack
    .split('\n')
    .filter((line) => line.includes('annex:') && line.trimStart().startsWith('at '))
  return { name, message, stack: [`${name}: ${message}`, ...frames].join('\n').slice(0, 8192) }
}
