import type { Send } from '../../../host/webhooks/run-delivery.ts'
import type { Attempt, AttemptOptions, Sendable } from '../../../host/webhooks/send-attempt.ts'
import type { Mood, Receiver } from '../plan.ts'
import type { Random } from './random.ts'
import { epochMs, type Owner, type World } from './world.ts'

/** A request that a host has sent, as the network saw it. */
export type Sent = {
  deliveryId: string
  receiver: Receiver
  owner: Owner
  at: number
  /** By its host's clock. */
  startedAtMs: number
  /** What the receiver made of it, which the host may never have heard. */
  isTaken: boolean
  /** What the host was told, and when. */
  answer?: Answer
  answeredAt?: number
}

type Answer = Pick<Attempt, 'outcome' | 'status' | 'retryAfter' | 'error'>

export type Network = {
  sent: readonly Sent[]
  /** Under way, of hosts that live. */
  open: () => Sent[]
  /** What a receiver's answers were, in the order in which hosts heard them. */
  answered: (receiverId: string) => Sent[]
  sendFor: (owner: Owner) => Send
}

export function createNetwork(given: {
  world: World
  random: Random
  receivers: readonly Receiver[]
  onSend: (sent: Sent) => void
}): Network {
  const { world, random } = given
  const sent: Sent[] = []
  const heard: Sent[] = []
  return {
    sent,
    open: () => sent.filter(({ answeredAt, owner }) => answeredAt === undefined && !owner.isGone),
    answered: (receiverId) => heard.filter(({ receiver }) => receiver.id === receiverId),
    sendFor: (owner) => (delivery, _secret, options) => send(owner, delivery, options),
  }

  function send(owner: Owner, delivery: Sendable, options: AttemptOptions): Promise<Attempt> {
    const receiver = given.receivers.find(({ url }) => url === delivery.url)
    if (receiver === undefined) throw new Error(`nobody is at ${delivery.url}`)
    const { afterMs, answer, isTaken } = draw(moodOf(receiver), options)
    const request: Sent = {
      ...{ deliveryId: delivery.id, receiver, owner, isTaken },
      at: world.time(),
      startedAtMs: options.nowMs,
    }
    sent.push(request)
    world.note(`${receiver.id} <- ${delivery.id}`)
    given.onSend(request)
    return new Promise((resolve) => {
      const end = () => {
        request.answeredAt = world.time()
        request.answer = answer
        heard.push(request)
        world.note(`${receiver.id} -> ${delivery.id} ${answer.status ?? answer.error?.code}`)
        resolve({
          ...answer,
          startedAtMs: options.nowMs,
          durationMs: afterMs,
          requestHeaders: [],
          timing: {},
        })
      }
      world.after(afterMs, end, owner)
    })
  }

  function moodOf({ moods }: Receiver): Mood {
    const { mood } = moods.find(({ until }) => until > world.time()) ?? { mood: 'healthy' as const }
    return mood === 'flaky' ? random.pick(['healthy', 'slow', 'failing', 'resetting', 'busy']) : mood
  }

  function draw(
    mood: Mood,
    { timeoutMs = 10_000 }: AttemptOptions,
  ): { afterMs: number; answer: Answer; isTaken: boolean } {
    const quick = random.between(0, 60)
    const answered = (status: number, afterMs = quick, retryAfter?: string) => ({
      afterMs,
      isTaken: status < 300,
      answer: {
        outcome: status < 300 ? ('delivered' as const) : ('rejected' as const),
        status,
        ...(retryAfter !== undefined && { retryAfter }),
      },
    })
    const failed = (code: 'egress_failed' | 'egress_timeout', afterMs: number, isTaken: boolean) => ({
      afterMs,
      isTaken,
      answer: { outcome: 'error' as const, error: { code, message: `${code}: simulated` } },
    })
    switch (mood) {
      case 'slow':
        return answered(200, random.between(200, timeoutMs - 1))
      case 'failing':
        return answered(random.pick([500, 502, 599]))
      case 'silent':
        return failed('egress_timeout', timeoutMs, random.chance(0.3))
      case 'resetting':
        return failed('egress_failed', quick, random.chance(0.3))
      case 'busy':
        return answered(random.pick([429, 503]), quick, drawRetryAfter())
      case 'elsewhere':
        return answered(random.pick([301, 302, 308]))
      case 'rejecting':
        return answered(random.pick([400, 401, 404]))
      case 'gone':
        return answered(410)
      default:
        return answered(random.pick([200, 201, 204]))
    }
  }

  function drawRetryAfter(): string {
    const seconds = random.between(0, 20)
    return random.pick([
      `${seconds}`,
      new Date(epochMs + world.time() + seconds * 1_000).toUTCString(),
      'soon',
    ])
  }
}
