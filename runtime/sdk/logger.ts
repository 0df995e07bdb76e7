export type Logger = {
  debug(...values: unknown[]): void
  info(...values: unknown[]): void
  warn(...values: unknown[]): void
  error(...values: unknown[]): void
}

/** A logger whose lines begin with its name. They go to the log of the installation. */
export const Logger = (name: string): Logger => ({
  debug: (...values) => console.debug(`[${name}]`, ...values),
  info: (...values) => console.info(`[${name}]`, ...values),
  warn: (...values) => console.warn(`[${name}]`, ...values),
  error: (...values) => console.error(`[${name}]`, ...values),
})
