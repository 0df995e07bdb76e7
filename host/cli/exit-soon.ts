const patienceMs = 1_000

/** Ends the process with that code: by itself, or a second later, whatever still keeps it alive by then. */
export function exitSoon(code: number): void {
  process.exitCode = code
  setTimeout(() => process.exit(), patienceMs).unref()
}
