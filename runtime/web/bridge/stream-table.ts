import { createTable } from '../primordials.ts'

/** The open streams of one direction, by their dispatch. */
export type StreamTable<T> = {
  put(dispatch: number, stream: number, value: T): void
  get(dispatch: number, stream: number): T | undefined
  take(dispatch: number, stream: number): T | undefined
  /** Drops all that are left of a dispatch. */
  forget(dispatch: number): void
}

export const createStreamTable = <T>(): StreamTable<T> => {
  const byDispatch = createTable<Record<number, T | undefined>>()
  return {
    put(dispatch, stream, value) {
      const streams = byDispatch[dispatch] ?? createTable<T>()
      streams[stream] = value
      byDispatch[dispatch] = streams
    },
    get: (dispatch, stream) => byDispatch[dispatch]?.[stream],
    take(dispatch, stream) {
      const streams = byDispatch[dispatch]
      const found = streams?.[stream]
      if (streams !== undefined) delete streams[stream]
      return found
    },
    forget(dispatch) {
      delete byDispatch[dispatch]
    },
  }
}
