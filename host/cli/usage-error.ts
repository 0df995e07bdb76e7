/** The command line cannot be understood: exit code 2. The message says what was expected. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
