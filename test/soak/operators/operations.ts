import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../simulation/world/random.ts'
import type { Answered, Json } from '../../support/annex.ts'
import { type MoodyReceiver, moods } from './moody-receivers.ts'

/** Asks any of the hosts. */
export type Ask = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) => Promise<Answered>

/** The actions of people on deliveries while these are sent. */
export type Operations = Record<string, () => Promise<unknown>>

/** Deliveries are due at once after a resume, also those that are being stored at that moment. */
const dueWithinMs = 500

export function createOperations(given: {
  ask: Ask
  random: Random
  /** Of its installation, with what it is resumed at. */
  installationPath: string
  receiverIds: readonly [string, ...string[]]
  receivers: readonly [MoodyReceiver, ...MoodyReceiver[]]
  onWrong: (what: string) => void
}): Operations {
  const { ask, installationPath, receiverIds, receivers, onWrong } = given
  const { chance, pick } = given.random
  const receiver = () => `/v1/receivers/${pick(receiverIds)}`
  return {
    pause: () => ask('POST', `${receiver()}/pause`, {}),
    resume: () => resume(receiver()),
    'resume once more': () => resume(receiver()),
    order: () => ask('PATCH', receiver(), { ordered: chance(0.5) }),
    example: () => ask('POST', `${receiver()}/example`, {}),
    look: () => ask('GET', receiver()),
    list: () => ask('GET', `/v1/deliveries?limit=20&state=${pick(['pending', 'failed', 'delivered'])}`),
    'send again': sendAgain,
    'send failed': sendFailed,
    'rotate the secret': () => ask('POST', `${installationPath}/signing-secret`, {}),
    'pause the installation': () => ask('POST', `${installationPath}/pause`, {}),
    'resume the installation': () => ask('POST', `${installationPath}/resume`, {}),
    async 'change a mood'() {
      pick(receivers).mood = pick(moods)
    },
  }

  async function resume(path: string): Promise<void> {
    const resumed = await ask('POST', `${path}/resume`, {})
    if (resumed.status !== 200) return
    await sleep(dueWithinMs)
    const { json } = await ask('GET', path)
    // The receiver is unchanged since then.
    const isSame = json.state === 'active' && json.updatedAt === resumed.json.updatedAt
    if (isSame && json.pending.waiting > 0)
      onWrong(`${json.pending.waiting} wait for ${json.id}, which is active`)
  }

  /** Two who have the same idea. */
  async function sendAgain(): Promise<void> {
    const { json } = await ask('GET', '/v1/deliveries?limit=50')
    const found: Json[] = json.items
    if (found.length === 0) return
    const path = `/v1/deliveries/${pick(found as [Json]).id}/send`
    await Promise.all([ask('POST', path, {}), ask('POST', path, {})])
  }

  function sendFailed(): Promise<Answered> {
    const some = chance(0.5) ? { receiver: pick(receiverIds) } : {}
    const since = new Date(0).toISOString()
    return ask('POST', '/v1/deliveries/send-failed', { since, perSecond: pick([50, 500]), ...some })
  }
}
