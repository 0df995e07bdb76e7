/** Exit codes of a program that a signal ended, as shells have them. */
export const signalExitCodes = { SIGINT: 130, SIGTERM: 143 } as const

export type StopSignal = keyof typeof signalExitCodes

/**
 * Ctrl+C reaches every process of the terminal, and npm and `make` pass theirs on: what comes again within this
 * time is the same press.
 */
const samePressMs = 500

/**
 * Listens for SIGINT and SIGTERM. The first one is for an ordered stop; a second one means now.
 *
 * @param exit ends the process at once
 * @returns the first signal, and `close`, which gives the signals their usual meaning back
 */
export function listenForStop(exit: (code: number) => void): {
  first: Promise<StopSignal>
  close: () => void
} {
  const { promise: first, resolve } = Promise.withResolvers<StopSignal>()
  let firstAt: number | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (firstAt !== undefined && now - firstAt > samePressMs) exit(signalExitCodes[signal as StopSignal])
    firstAt ??= now
    resolve(signal as StopSignal)
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  const close = () => {
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
  return { first, close }
}
