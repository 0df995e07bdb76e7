import type { DispatchMessage } from '../../bridge.ts'
import { createIncomingRequest } from '../fetch/request.ts'
import {
  isArrayBuffer,
  NativeError,
  NativePromise,
  NativeTypeError,
  toJsonText,
  whenSettled,
} from '../primordials.ts'
import { answerText, bytesOfAnswer } from './answer.ts'
import type { Calls } from './calls.ts'
import type { DispatchFunction, HostAccess } from './definition.ts'
import { errorText, plainErrorText, toPlainError } from './plain-error.ts'
import type { Wire } from './wire.ts'

/** Runs the dispatches of one isolate. */
export type Dispatcher = {
  use(dispatch: DispatchFunction): void
  run(id: number, message: DispatchMessage, bytes: ArrayBuffer | undefined): void
}

/** A dispatch that is not done. `waiting` counts its answer and its `waitUntil` promises. */
type OpenDispatch = { id: number; waiting: number; answered: boolean }

/** The dispatcher of an isolate. Each dispatch is answered exactly once, and then done exactly once. */
export const createDispatcher = (wire: Wire, calls: Calls): Dispatcher => {
  let dispatch: DispatchFunction | undefined

  const settleOne = (open: OpenDispatch): void => {
    open.waiting -= 1
    if (open.waiting === 0) wire.post(`{"kind":"done","id":${open.id}}`)
  }

  const answer = (open: OpenDispatch, resultText: string, bytes?: ArrayBuffer): void => {
    if (open.answered) return
    open.answered = true
    open.waiting -= 1
    // Said in one post where it can be: this is the end of nearly every dispatch.
    const done = open.waiting === 0 ? ',"done":true' : ''
    wire.post(`{"kind":"answer","id":${open.id},"result":${resultText}${done}}`, bytes)
  }

  const fail = (open: OpenDispatch, thrown: unknown): void =>
    answer(open, `{"kind":"error","error":${plainErrorText(toPlainError(thrown))}}`)

  const succeed = (open: OpenDispatch, result: unknown, mustBeResponse: boolean): void => {
    try {
      const text = answerText(result, mustBeResponse)
      const body = bytesOfAnswer(result)
      if (body === undefined || isArrayBuffer(body)) return answer(open, text, body)
      whenSettled(
        body,
        (bytes) => answer(open, text, bytes),
        (thrown) => fail(open, thrown),
      )
    } catch (thrown) {
      fail(open, thrown)
    }
  }

  return {
    use(given) {
      dispatch = given
    },
    run(id, message, bytes) {
      wire.dispatch = id
      const open: OpenDispatch = { id, waiting: 1, answered: false }
      try {
        if (dispatch === undefined) throw new NativeError('No integration was loaded into this sandbox')
        const request =
          message.request === undefined ? undefined : createIncomingRequest(message.request, bytes)
        const host = createHostAccess(wire, calls, open, () => settleOne(open))
        const result = dispatch(message.event, message.environment, request, host)
        whenSettled(
          asPromise(result),
          (value) => succeed(open, value, request !== undefined),
          (thrown) => fail(open, thrown),
        )
      } catch (thrown) {
        fail(open, thrown)
      }
    },
  }
}

const createHostAccess = (
  wire: Wire,
  calls: Calls,
  open: OpenDispatch,
  settleOne: () => void,
): HostAccess => ({
  call: (name, args) =>
    new NativePromise((resolve, reject) => {
      const argsText = toJsonText(args)
      if (argsText === undefined)
        throw new NativeTypeError('The arguments of the call cannot be written as JSON')
      calls.start(name, argsText, undefined, (settled) => {
        if (settled.ok) return resolve(settled.value)
        reject(new NativeError(settled.error.message))
      })
    }),
  waitUntil(promise) {
    // Done is final: what is handed in afterwards runs as long as the sandbox happens to live.
    if (open.waiting === 0) return
    open.waiting += 1
    whenSettled(asPromise(promise), settleOne, (thrown) => {
      wire.log('error', `A promise given to waitUntil was rejected: ${errorText(thrown)}`)
      settleOne()
    })
  },
})

/** A native promise for anything; a thenable of the script is adopted, in a microtask of its own. */
const asPromise = (value: unknown): Promise<unknown> => new NativePromise((resolve) => resolve(value))
