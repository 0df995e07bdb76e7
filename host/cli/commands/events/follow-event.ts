import type { Api } from '../../client.ts'
import { feedDeliveries } from '../../delivery-feed.ts'
import type { DispatchReceipt, Job, List, Receipt } from '../../records.ts'
import type { Session } from '../../session.ts'
import { toSafeLine } from '../../terminal/safe-text.ts'
import type { Terminal } from '../../terminal.ts'
import { printFeedItem } from '../deliveries/print-feed.ts'
import { describeCalls, toShort } from './print-receipt.ts'

/** A handler that has answered may still ask for deliveries in its `waitUntil`; one that has asked for none by now will not. */
const quietMs = 3_000

/**
 * Prints what becomes of an event until its handlers have come to their end, and all its deliveries are settled.
 * Says what each handler did, and how long it took.
 *
 * @returns whether all were delivered, and no handler failed; true also when no script asked for a delivery
 */
export async function followEvent(
  { api, terminal }: Pick<Session, 'api' | 'terminal'>,
  { eventId, installations }: Pick<Receipt, 'eventId' | 'installations'>,
): Promise<boolean> {
  const states = new Map<string, string>()
  const handlers = watchHandlers(api, terminal, eventId)
  let changedAt = Date.now()
  for await (const item of feedDeliveries(api, { event: eventId })) {
    if (item !== undefined) {
      states.set(item.delivery.id, item.delivery.state)
      changedAt = Date.now()
      printFeedItem(terminal, item)
      continue
    }
    const isSettled = ![...states.values()].includes('owed')
    const isComplete = states.size >= installations || Date.now() - changedAt > quietMs
    // The handlers were asked for before these deliveries: what they have owed is among them.
    if (handlers.areDone() && isSettled && isComplete) break
    if (await handlers.haveWork()) changedAt = Date.now()
  }
  const failed = await api.get<List<Job>>('/v1/jobs', { event: eventId, limit: 200 })
  const receipts = await api.get<List<DispatchReceipt>>('/v1/receipts', { event: eventId, limit: 200 })
  // The newest first: of handlers that were tried again the last run counts.
  const last = new Map(receipts.items.toReversed().map((one) => [one.installation, one]))
  for (const receipt of last.values()) sayHandled(terminal, receipt)
  for (const job of failed.items) terminal.say(toFailure(job))
  if (installations === 0) terminal.say('No installation takes this event: see `annex installations`.')
  return failed.count === 0 && ![...states.values()].includes('failed')
}

function sayHandled(terminal: Terminal, receipt: DispatchReceipt): void {
  const { integration, installation = '', type, outcome, wallMs, request } = receipt
  const who = `${integration} ${installation}`
  if (outcome === 'no_handler') terminal.say(`${who} has no handler for ${toSafeLine(type)}.`)
  if (outcome !== 'ok') return
  terminal.say(
    `${who} handled it in ${toShort(wallMs)} ms${describeCalls(receipt)}. See \`annex logs ${request}\`.`,
  )
}

/** A job may go from one state to another between two questions: they are done when twice none was seen. */
const looksWithout = 2

function watchHandlers(api: Api, terminal: Terminal, eventId: string) {
  let without = 0
  let hasSaid = false
  return {
    areDone: () => without >= looksWithout,
    async haveWork(): Promise<boolean> {
      if (without >= looksWithout) return false
      let found = 0
      for (const state of ['waiting', 'due', 'running']) {
        const { items } = await api.get<List<Job>>('/v1/jobs', { event: eventId, state, limit: 200 })
        found += items.length
        if (state === 'waiting' && items.length > 0 && !hasSaid) {
          hasSaid = true
          terminal.say(
            `It waits for a resume of ${items.map(({ installation }) => installation).join(', ')}.`,
          )
        }
      }
      without = found === 0 ? without + 1 : 0
      return found > 0
    },
  }
}

const toFailure = ({ id, integration, error }: Job): string =>
  `${integration} has not handled it: ${toSafeLine(error?.message ?? 'it failed')} See \`annex jobs show ${id}\`.`
