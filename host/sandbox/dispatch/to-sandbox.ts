import { Readable } from 'node:stream'
import type { FrameToWrite } from '../../../runtime/process/frame.ts'
import { toProcess, withStream } from '../../../runtime/process/messages.ts'
import { bodyStream } from '../../../runtime/wire-kinds.ts'
import { type AnnexError, requestBrokeOffError } from '../../errors.ts'
import type { HostCallAnswer } from '../host-calls.ts'
import { answerTooLargeError, requestTooLargeError, uploadTooLargeError } from '../sandbox-errors.ts'
import type { OnLimit } from '../sandbox-options.ts'
import { createBodySink, createBodySource } from './body-streams.ts'
import { isAnswered, type LiveDispatch } from './live-dispatches.ts'

type Send = (frame: FrameToWrite) => void

/** Frames to a sandbox for a dispatch: the dispatch itself, answers of its calls, its bodies. */
export type ToSandbox = {
  begin: (live: LiveDispatch, environment: number) => void
  answer: (live: LiveDispatch, call: number, answer: HostCallAnswer, isEgress: boolean) => void
  /** Refuses a call outside of any dispatch. */
  refuse: (call: Pick<FrameToWrite, 'sandbox' | 'dispatch' | 'number'>) => void
  /** Opens a stream that comes from the script: its answer (0), or the body of a call. */
  openSink: (live: LiveDispatch, stream: number, isEgress: boolean) => Readable
}

export function createToSandbox(
  send: Send,
  limits: { bodyBytes: number; fetchBytes: number },
  given: {
    onLimit: OnLimit
    /** Ends a dispatch whose visitor sends too much. */
    refuseRequest: (live: LiveDispatch, error: AnnexError) => void
    /** An answer that has begun breaks off. */
    onBrokenOff: (live: LiveDispatch, error: AnnexError) => void
  },
): ToSandbox {
  return {
    begin(live, environment) {
      const { sandbox, id, queued } = live
      const head = {
        type: toProcess.dispatch,
        sandbox,
        dispatch: id,
        number: environment,
        text: queued.message,
      }
      if (queued.body instanceof Readable) {
        openSource(live, bodyStream, queued.body, false)
        send({ ...head, flags: withStream })
      } else send({ ...head, body: queued.body })
      const { visitor } = queued
      if (visitor?.closed) leave(live)
      else visitor?.once('close', () => leave(live))
    },
    answer(live, call, answer, isEgress) {
      const head = { sandbox: live.sandbox, dispatch: live.id, number: call }
      if (!answer.ok) return send({ ...head, type: toProcess.reject, text: JSON.stringify(answer.error) })
      const settle = { ...head, type: toProcess.settle, text: JSON.stringify(answer.value) ?? 'null' }
      if (answer.body instanceof Readable) {
        openSource(live, call, answer.body, isEgress)
        return send({ ...settle, flags: withStream })
      }
      if (isEgress) live.egressBytes += answer.body?.byteLength ?? 0
      send(answer.body === undefined ? settle : { ...settle, body: answer.body })
    },
    refuse({ sandbox = 0, dispatch = 0, number = 0 }) {
      const message = 'Nothing is being handled now. Give work that goes on after the answer to waitUntil().'
      const text = JSON.stringify({ name: 'refused', message })
      send({ type: toProcess.reject, sandbox, dispatch, number, text })
    },
    openSink(live, stream, isEgress) {
      const head = { sandbox: live.sandbox, dispatch: live.id, number: stream }
      const isAnswer = stream === bodyStream
      const sink = createBodySink({
        maxBytes: isAnswer ? limits.bodyBytes : limits.fetchBytes,
        isEgress,
        tooLarge() {
          given.onLimit(live.queued.context.integration, isAnswer ? 'answer_size' : 'fetch_size')
          if (!isAnswer) return uploadTooLargeError(limits)
          const error = answerTooLargeError(limits)
          given.onBrokenOff(live, error)
          return error
        },
        pull: () => send({ ...head, type: toProcess.pull }),
        cancel: () => {
          live.sinks?.delete(stream)
          send({ ...head, type: toProcess.cancel })
        },
      })
      live.sinks ??= new Map()
      live.sinks.set(stream, sink)
      return sink.readable
    },
  }

  /** The visitor has gone: the signal of the request aborts, and the script goes on. */
  function leave({ id, sandbox, queued }: LiveDispatch): void {
    if (!queued.visitor?.writableFinished) send({ type: toProcess.leave, sandbox, dispatch: id })
  }

  function openSource(live: LiveDispatch, stream: number, readable: Readable, isEgress: boolean): void {
    const head = { sandbox: live.sandbox, dispatch: live.id, number: stream }
    const source = createBodySource({
      readable,
      // The egress client has bounded the answer of a fetch already.
      maxBytes: stream === bodyStream ? limits.bodyBytes : Number.POSITIVE_INFINITY,
      onTooMany() {
        given.onLimit(live.queued.context.integration, 'request_size')
        given.refuseRequest(live, requestTooLargeError(limits))
      },
      onPiece(bytes) {
        if (isEgress) live.egressBytes += bytes.byteLength
        // An upload keeps its dispatch alive. A slow remote server does not, and after the answer neither does.
        const isAwaited = !isAnswered(live) || live.sinks?.has(bodyStream)
        if (stream === bodyStream && isAwaited) live.movedMs = performance.now()
        send({ ...head, type: toProcess.chunk, body: bytes })
      },
      onEnd: () => send({ ...head, type: toProcess.end }),
      onFail(message) {
        // A visitor who has gone is no failure of the script.
        if (stream === bodyStream && !isAnswered(live)) given.refuseRequest(live, requestBrokeOffError())
        else send({ ...head, type: toProcess.fail, text: message })
      },
      onClosed(wasRead) {
        live.sources?.delete(stream)
        // Else answers that were read would count towards the limit of calls at once.
        if (stream !== bodyStream) live.running?.delete(stream)
        // An answer that is not read to its end gives up its connection to the server.
        if (stream !== bodyStream && !wasRead) readable.destroy()
      },
    })
    live.sources ??= new Map()
    live.sources.set(stream, source)
  }
}
