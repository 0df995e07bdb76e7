import type { DispatchMessage, WireBody } from '../../bridge.ts'
import { answered, bodyStream, post } from '../../wire-kinds.ts'
import type { OutgoingBody } from '../fetch/body.ts'
import { createIncomingRequest, type Request } from '../fetch/request.ts'
import { createVisit, endVisit, type Visit } from '../fetch/visit.ts'
import {
  createTable,
  NativeError,
  NativePromise,
  NativeTypeError,
  parseJson,
  toJsonText,
  whenSettled,
} from '../primordials.ts'
import type { ReadableStream } from '../streams/streams.ts'
import { answerText, bodyOfAnswer } from './answer.ts'
import type { BodyStreams } from './body-streams.ts'
import type { Calls } from './calls.ts'
import type { DispatchFunction, HostAccess } from './definition.ts'
import type { Environments } from './environments.ts'
import { plainErrorText, thrownText, toPlainError } from './plain-error.ts'
import { readRequestHead } from './request-head.ts'
import type { Wire } from './wire.ts'

/** Runs the dispatches of one isolate. */
export type Dispatcher = {
  use(dispatch: DispatchFunction): void
  /** @param text a DispatchMessage as JSON, or the head of a request */
  run(id: number, environment: number, text: string, body: WireBody | ReadableStream | undefined): void
  /** The visitor has gone, and the answer has not ended. */
  leave(id: number): void
}

/** A dispatch that is not done. `waiting` counts its answer, its answer's stream and its `waitUntil` promises. */
type OpenDispatch = { id: number; waiting: number; answered: boolean }

/** The dispatcher of an isolate. Each dispatch is answered exactly once, and then done exactly once. */
export const createDispatcher = (parts: {
  wire: Wire
  calls: Calls
  streams: BodyStreams
  environments: Environments
}): Dispatcher => {
  const { wire, calls, streams, environments } = parts
  const visits = createTable<Visit>()
  let dispatch: DispatchFunction | undefined

  const forget = (id: number): void => {
    streams.forget(id)
    delete visits[id]
  }

  const settleOne = (open: OpenDispatch): void => {
    open.waiting -= 1
    if (open.waiting > 0) return
    forget(open.id)
    wire.post(post.done, open.id, 0)
  }

  const answer = (open: OpenDispatch, text: string, body?: OutgoingBody): void => {
    if (open.answered) return
    const isLong = streams.isLong(body)
    // It may throw where a script has changed how a stream is read: then that is the answer.
    if (isLong) streams.send(open.id, bodyStream, body, () => settleOne(open))
    open.answered = true
    if (isLong) {
      wire.post(post.answer, open.id, answered.streams, text)
      return
    }
    open.waiting -= 1
    // Said in one post where it can be: this is the end of nearly every dispatch.
    if (open.waiting === 0) forget(open.id)
    wire.post(post.answer, open.id, open.waiting === 0 ? answered.done : answered.open, text, body)
  }

  const fail = (open: OpenDispatch, thrown: unknown): void =>
    answer(open, `{"kind":"error","error":${plainErrorText(toPlainError(thrown))}}`)

  const succeed = (open: OpenDispatch, result: unknown, mustBeResponse: boolean): void => {
    try {
      const body = bodyOfAnswer(result)
      answer(open, answerText(result, body, mustBeResponse), body)
    } catch (thrown) {
      fail(open, thrown)
    }
  }

  const requestOf = (
    { request }: DispatchMessage,
    id: number,
    body: WireBody | ReadableStream | undefined,
  ): Request | undefined => {
    if (request === undefined) return undefined
    const visit = createVisit()
    visits[id] = visit
    return createIncomingRequest(request, body, visit)
  }

  return {
    use(given) {
      dispatch = given
    },
    run(id, environment, text, body) {
      wire.dispatch = id
      const open: OpenDispatch = { id, waiting: 1, answered: false }
      try {
        if (dispatch === undefined) throw new NativeError('No integration was loaded into this sandbox')
        const message = readMessage(text)
        const request = requestOf(message, id, body)
        const host = createHostAccess(wire, calls, open, () => settleOne(open))
        const event = message.event ?? { type: 'fetch' }
        const result = dispatch(event, environments.reader(environment), request, host)
        whenSettled(
          asPromise(result),
          (value) => succeed(open, value, request !== undefined),
          (thrown) => fail(open, thrown),
        )
      } catch (thrown) {
        fail(open, thrown)
      }
    },
    leave(id) {
      wire.dispatch = id
      const visit = visits[id]
      if (visit !== undefined) endVisit(visit)
    },
  }
}

/** No method begins with a brace. */
const readMessage = (text: string): DispatchMessage =>
  text[0] === '{' ? (parseJson(text) as DispatchMessage) : { request: readRequestHead(text) }

const createHostAccess = (
  wire: Wire,
  calls: Calls,
  open: OpenDispatch,
  settleOne: () => void,
): HostAccess => ({
  call: (name, args) =>
    new NativePromise((resolve, reject) => {
      if (!isCallName(name))
        throw new NativeTypeError('A call needs a name of 1 to 100 characters, on one line')
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
      wire.log('error', `A promise given to waitUntil was rejected: ${thrownText(thrown)}`)
      settleOne()
    })
  },
})

/** On the wire a line end parts the name from the arguments, and the host ends a sandbox that sends another name. */
const isCallName = (name: unknown): boolean => {
  if (typeof name !== 'string' || name.length === 0 || name.length > 100) return false
  for (let at = 0; at < name.length; at++) if (name[at] === '\n') return false
  return true
}

/** A native promise for anything; a thenable of the script is adopted, in a microtask of its own. */
const asPromise = (value: unknown): Promise<unknown> => new NativePromise((resolve) => resolve(value))
