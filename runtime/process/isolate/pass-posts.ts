import { answered, message, post } from '../../wire-kinds.ts'
import type { CryptoCalls } from '../crypto/crypto-calls.ts'
import type { FrameToWrite } from '../frame.ts'
import { toHost, withStream } from '../messages.ts'
import { parseCall } from '../parse-call.ts'
import type { Budgets } from './budgets.ts'
import { exactBuffer, type GuestBodies, type GuestBody } from './guest-body.ts'
import { type GuestPost, sizeOf } from './post-queue.ts'
import type { Timers } from './timers.ts'

/** Wakes the guest for something of the process's own. */
export type Wake = (
  dispatch: number,
  kind: number,
  id: number,
  number: number,
  text: string,
  body?: GuestBody,
) => void

/** What passes on what a guest says is given. */
type Passing = {
  sandbox: number
  pieceBytes: number
  send: (frame: FrameToWrite) => void
  wake: Wake
  budgets: Budgets
  timers: Timers
  crypto: CryptoCalls
  bodies: GuestBodies
}

/**
 * Does what a guest has said in a stretch: timers and cryptography here, all else goes to the host. `running` is the
 * dispatch that the stretch was for; answers and streams name their own.
 */
export function createPostPasser(passing: Passing): (said: GuestPost, running: number) => void {
  const { sandbox, pieceBytes, send, wake, budgets, timers, crypto, bodies } = passing
  return ({ kind, id, number, text, body }, running) => {
    // The host takes a dispatch of another sandbox for the doing of the process, and ends it.
    if (namesDispatch(kind) && !budgets.has(id)) return
    switch (kind) {
      case post.answer:
        return answer(id, number, text, body)
      case post.done:
        return send({ type: toHost.done, sandbox, dispatch: id, ...budgets.close(id) })
      case post.log:
        return send({ type: toHost.log, sandbox, dispatch: running, number, text })
      case post.timer:
        return timers.start(running, id, number)
      case post.clearTimer:
        return timers.clear(id)
      case post.call:
        return call(running, id, number, text, body)
      case post.abort:
        return send({ type: toHost.abort, sandbox, dispatch: running, number: id })
      case post.chunk:
        if (sizeOf(body) > pieceBytes) return
        budgets.earn(id, sizeOf(body))
        return send({ type: toHost.chunk, sandbox, dispatch: id, number, body })
      case post.end:
        return send({ type: toHost.end, sandbox, dispatch: id, number })
      case post.fail:
        return send({ type: toHost.fail, sandbox, dispatch: id, number, text })
      case post.pull:
        return send({ type: toHost.pull, sandbox, dispatch: id, number })
      case post.cancel:
        return send({ type: toHost.cancel, sandbox, dispatch: id, number })
    }
  }

  function answer(dispatch: number, state: number, text: string, body: GuestPost['body']): void {
    if (text.length + sizeOf(body) > pieceBytes) return send({ type: toHost.tooLarge, sandbox, dispatch })
    const { number, extra } = state === answered.done ? budgets.close(dispatch) : nothingYet
    send({ type: toHost.answer, sandbox, dispatch, flags: state, number, extra, text, body })
  }

  function call(dispatch: number, id: number, streams: number, text: string, body: GuestPost['body']): void {
    if (text.length + sizeOf(body) > pieceBytes) {
      return refuse(dispatch, id, 'body_too_large', `A call with more than ${pieceBytes} bytes in one piece.`)
    }
    if (text.startsWith('crypto.')) return startCrypto(dispatch, id, text, body)
    const flags = streams === 1 ? withStream : 0
    send({ type: toHost.call, sandbox, dispatch, number: id, flags, text, body })
  }

  function startCrypto(dispatch: number, id: number, text: string, body: GuestPost['body']): void {
    const asked = parseCall(text)
    if (asked === undefined) return refuse(dispatch, id, 'DataError', 'The call cannot be read.')
    const given = typeof body === 'string' ? Buffer.from(body) : body
    crypto.start({ dispatch, ...asked, bytes: given && exactBuffer(given) }, (done) => {
      if (!done.ok) return wake(dispatch, message.reject, id, 0, JSON.stringify(done.error))
      const bytes = done.bytes && bodies.fromBytes(done.bytes)
      wake(dispatch, message.settle, id, 0, JSON.stringify(done.value) ?? 'null', bytes)
    })
  }

  /** After the stretch, as every answer: the guest has not yet left the call that it made. */
  function refuse(dispatch: number, id: number, name: string, why: string): void {
    setImmediate(() => wake(dispatch, message.reject, id, 0, JSON.stringify({ name, message: why })))
  }
}

/** `answer`, `done`, and what is said of a body. */
const namesDispatch = (kind: number): boolean => kind <= post.done || kind >= post.chunk

const nothingYet = { number: 0, extra: 0 }
