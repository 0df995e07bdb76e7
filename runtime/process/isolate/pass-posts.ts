import { answered, message, post } from '../../wire-kinds.ts'
import type { CryptoCalls } from '../crypto/crypto-calls.ts'
import type { FrameToWrite } from '../frame.ts'
import { parseCall, toHost, withStream } from '../messages.ts'
import type { Budgets } from './budgets.ts'
import { exactBuffer, type GuestBodies, type GuestBody } from './guest-body.ts'
import { type GuestPost, sizeOf } from './post-queue.ts'
import type { Timers } from './timers.ts'

/** Wakes the guest for a timer or a result of the process itself. */
export type Wake = (
  dispatch: number,
  kind: number,
  id: number,
  number: number,
  text: string,
  body?: GuestBody,
) => void

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
 * Handles a post of a guest: timers and cryptography in this process, all others go to the host. `running` is the dispatch of
 * the stretch. Answers and streams name their dispatch themselves.
 */
export function createPostPasser(passing: Passing): (post: GuestPost, running: number) => void {
  const { sandbox, pieceBytes, send, wake, budgets, timers, crypto, bodies } = passing
  return ({ kind, id, number, text, body }, running) => {
    // A frame that names a dispatch of another sandbox would make the host end this process.
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

  /** After the stretch, as each answer: the guest has not yet returned from its call. */
  function refuse(dispatch: number, id: number, name: string, why: string): void {
    setImmediate(() => wake(dispatch, message.reject, id, 0, JSON.stringify({ name, message: why })))
  }
}

/** `answer`, `done`, and the kinds of streams. */
const namesDispatch = (kind: number): boolean => kind <= post.done || kind >= post.chunk

const nothingYet = { number: 0, extra: 0 }
