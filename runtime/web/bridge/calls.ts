import type { PlainError, WireBody } from '../../bridge.ts'
import { post } from '../../wire-kinds.ts'
import type { OutgoingBody } from '../fetch/body.ts'
import { createTable, parseJson } from '../primordials.ts'
import type { ReadableStream } from '../streams/streams.ts'
import type { BodyStreams } from './body-streams.ts'
import type { Wire } from './wire.ts'

/** The result of a call. A body that is long, or of unknown length, is a stream. */
export type Settled =
  | {
      ok: true
      value: unknown
      body: WireBody | ReadableStream | undefined
      /** Ends a body that is a stream, unless it has ended. */
      breakOff?: ((reason: unknown) => void) | undefined
    }
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
    body: OutgoingBody | undefined,
    settled: (result: Settled) => void,
  ): number
  abort(id: number): void
  settle(id: number, text: string, body: WireBody | undefined, isStream: boolean): void
  reject(id: number, text: string): void
}

type OpenCall = { dispatch: number; settled: (result: Settled) => void }

/** Calls over a wire. */
export const createCalls = (wire: Wire, streams: BodyStreams): Calls => {
  const open = createTable<OpenCall>()
  let lastId = 0

  const take = (id: number): OpenCall | undefined => {
    const call = open[id]
    delete open[id]
    if (call !== undefined) wire.dispatch = call.dispatch
    return call
  }

  return {
    start(name, argsText, body, settled) {
      lastId += 1
      const id = lastId
      open[id] = { dispatch: wire.dispatch, settled }
      const isLong = streams.isLong(body)
      if (isLong) streams.send(wire.dispatch, id, body)
      const whole = isLong ? undefined : body
      if (!wire.post(post.call, id, isLong ? 1 : 0, `${name}\n${argsText}`, whole)) {
        delete open[id]
        settled({ ok: false, error: { name: 'Error', message: 'The sandbox process refused the call' } })
      }
      return id
    },
    abort(id) {
      if (open[id] === undefined) return
      delete open[id]
      wire.post(post.abort, id, 0)
    },
    settle(id, text, body, isStream) {
      const call = take(id)
      if (call === undefined) return
      const whole = isStream ? streams.receive(call.dispatch, id) : body
      const { dispatch } = call
      const breakOff = isStream ? (reason: unknown) => streams.breakOff(dispatch, id, reason) : undefined
      call.settled({ ok: true, value: parseJson(text), body: whole, breakOff })
    },
    reject(id, text) {
      take(id)?.settled({ ok: false, error: parseJson(text) as PlainError })
    },
  }
}
