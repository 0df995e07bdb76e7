import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { type Attempt, sendAttempt } from '../../host/webhooks/send-attempt.ts'
import { openEgress, serveRaw } from '../egress/local-server.ts'

export const secret = 'whsec_do_not_show'
export const timeoutMs = 400
/** For receivers that end by themselves: a busy machine must not cause a timeout. */
export const patienceMs = 4_000
export const deliveryTo = (url: string, body = '{}') => ({ id: 'dlv_1', eventId: 'evt_1', url, body })

/** The beginning of an answer. */
export const ok = 'HTTP/1.1 200 OK\r\n'

/** One attempt at a receiver that handles its socket itself. `ORIGIN` stands for its address in errors. */
export async function attemptAt(
  t: TestContext,
  onSocket: (socket: Socket) => void,
  limitMs = timeoutMs,
): Promise<Attempt> {
  const { urlOrigin } = await serveRaw(t, onSocket)
  const delivery = deliveryTo(`${urlOrigin}/hook?token=in-the-path`)
  const options = { nowMs: 0, timeoutMs: limitMs }
  const attempt = await sendAttempt(openEgress(t), delivery, { current: secret }, options)
  assertNothingShown(attempt)
  assert.ok(attempt.durationMs < 5_000, `${attempt.durationMs} ms`)
  if (attempt.error !== undefined) attempt.error.message = attempt.error.message.replace(urlOrigin, 'ORIGIN')
  return attempt
}

/** The error of an attempt, for a failed assertion. */
export const why = ({ error }: Attempt): string => error?.message ?? 'it was answered'

/** The attempt shows no secret. Its error shows no path either, as a path may hold a token. */
function assertNothingShown(attempt: Attempt): void {
  assert.doesNotMatch(JSON.stringify(attempt), /do_not_show/)
  assert.doesNotMatch(String(attempt.error?.message), /in-the-path/)
}

/** Answers when the first bytes of the request have come. */
export const whenAsked = (answer: (socket: Socket) => void) => (socket: Socket) => {
  socket.once('data', () => answer(socket))
}

/** Writes for as long as the other side reads. */
export function flood(socket: Socket, piece: string | Buffer): void {
  const write = (): void => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on('drain', write)
  write()
}

export function trickle(socket: Socket, head: string, everyMs: number): void {
  socket.write(head)
  const timer = setInterval(() => socket.write('a'), everyMs)
  socket.on('close', () => clearInterval(timer))
}

/** Answers a request with a text, and closes. */
export const say = (text: string | Buffer) => whenAsked((socket) => void socket.end(text))
