/** A logger. Each function writes one line, of any values, as `console` does. */
export type Logger = {
  debug(...values: unknown[]): void
  info(...values: unknown[]): void
  warn(...values: unknown[]): void
  error(...values: unknown[]): void
}

/**
 * Makes a logger. Its lines begin with its name, and are in the log of the installation (`npx annex logs`).
 *
 * @param name text before each line, in square brackets
 * @limit `SANDBOX_LOG_LINES` lines and `SANDBOX_LOG_BYTES` in one dispatch; later lines are dropped
 */
export const Logger = (name: string): Logger => ({
  debug: (...values) => console.debug(`[${name}]`, ...values),
  info: (...values) => console.info(`[${name}]`, ...values),
  warn: (...values) => console.warn(`[${name}]`, ...values),
  error: (...values) => console.error(`[${name}]`, ...values),
})
