import type { AskProcess, LogLevel } from '../bridge.ts'
import type { Wire } from './bridge/wire.ts'

let connected: Wire | undefined

/** Names the wire of this isolate, for the interfaces that reach the process and are no part of any closure. */
export const askOver = (wire: Wire): void => {
  connected = wire
}

/** Asks the process over the wire. Throws where the isolate is not connected, as while its prelude is evaluated. */
export const ask = ((op: 'url', first: string, second?: string): string => {
  if (connected === undefined) throw new Error('The isolate is not connected yet')
  return connected.ask(op, first, second)
}) as AskProcess

export const log = (level: LogLevel, text: string): void => connected?.log(level, text)

/** The dispatch that the code which runs now belongs to; 0 when none is known. */
export const currentDispatch = (): number => connected?.dispatch ?? 0
