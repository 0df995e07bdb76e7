// A thread of the host: talks to receivers (see `startSender`).
import { flushCompileCache } from 'node:module'
import { parentPort } from 'node:worker_threads'
import { createEgress } from '../../net/egress.ts'
import { sendAttempt } from '../send-attempt.ts'
import { createAdmission } from './admission.ts'
import {
  createBatch,
  type FromThread,
  type SentAttempt,
  type ThreadOptions,
  type ToThread,
  toSent,
} from './messages.ts'

// Its end may be that of the process, and too late for this.
flushCompileCache()
const port = parentPort
if (port === null) throw new Error('This is a thread of the host, started by it.')
const tell = (message: FromThread) => port.postMessage(message)

let own = ''
const answer = createBatch<{ number: number; attempt: SentAttempt }>((attempts) => tell({ attempts }))

port.once('message', (options: ThreadOptions) => port.on('message', begin(options)))

function begin({ atOnce, ...egressOptions }: ThreadOptions): (message: ToThread) => void {
  const admit = createAdmission(atOnce)
  const egress = createEgress({ ...egressOptions, ownOrigin: () => own })
  return (message) => {
    own = message.own
    const askedAt = performance.now()
    for (const { number, endpointId, delivery, secrets, options } of message.asked) {
      admit(endpointId, async () => {
        const nowMs = options.nowMs + Math.round(performance.now() - askedAt)
        const attempt = await sendAttempt(egress, delivery, secrets, { ...options, nowMs })
        answer({ number, attempt: toSent(attempt) })
      })
    }
  }
}
