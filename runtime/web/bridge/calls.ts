import type { PlainError } from '../../bridge.ts'
import { createTable, quote } from '../primordials.ts'
import type { Wire } from './wire.ts'

/** What the process made of a call. */
export type Settled =
  | { ok: true; value: unknown; bytes: ArrayBuffer | undefined }
  | { ok: false; error: PlainError }

/** The calls of one isolate that its process has not settled yet. */
export type Calls = {
  /**
   * Asks the process for `name`. `argsText` is JSON. `settled` is called once, unless the call is aborted.
   * Returns the id of the call.
   */
  start(
    name: string,
    argsText: string,
    bytes: ArrayBuffer | undefined,
    settled: (result: Settled) => void,
  ): number
  abort(id: number): void
  settle(id: number, result: Settled): void
}

/** Calls over a wire. */
export const createCalls = (wire: Wire): Calls => {
  const open = createTable<{ dispatch: number; settled: (result: Settled) => void }>()
  let lastId = 0
  return {
    start(name, argsText, bytes, settled) {
      lastId += 1
      const id = lastId
      open[id] = { dispatch: wire.dispatch, settled }
      const text = `{"kind":"call","id":${id},"dispatch":${wire.dispatch},"name":${quote(name)},"args":${argsText}}`
      if (!wire.post(text, bytes)) {
        delete open[id]
        settled({ ok: false, error: { name: 'Error', message: 'The sandbox process refused the call' } })
      }
      return id
    },
    abort(id) {
      if (open[id] === undefined) return
      delete open[id]
      wire.post(`{"kind":"abort","id":${id}}`)
    },
    settle(id, result) {
      const call = open[id]
      if (call === undefined) return
      delete open[id]
      wire.dispatch = call.dispatch
      call.settled(result)
    },
  }
}
