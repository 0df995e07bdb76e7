import { createSampleEvent } from '../events/sample-event.ts'
import { toPath } from './client.ts'
import { printFeedItem } from './commands/deliveries/print-feed.ts'
import { waitUntilActive } from './commands/installations/configure-level.ts'
import { type FeedItem, feedDeliveries } from './delivery-feed.ts'
import { type DemoServer, startDemoServer } from './demo/demo-server.ts'
import { type Received, startReceiver } from './demo/receiver.ts'
import { listenForStop, type StopSignal, signalExitCodes } from './exit.ts'
import type { Installation, Receipt, TargetInstallation } from './records.ts'
import { exitCodes } from './report-error.ts'
import { paint, type Terminal } from './terminal.ts'

/** The whole story takes 4 s or so: two retries, after 1 and 2 s. */
const patienceMs = 25_000

/**
 * The main job as a story: install, publish, fail twice, deliver. Everything is real (server, sandbox, database,
 * HTTP), and everything is gone at the end.
 *
 * @returns the exit code: 0 when the event was delivered, on the third attempt, with a signature that the receiver
 *   accepted; of a signal when one ended the story
 */
export async function tellDemo(terminal: Terminal): Promise<number> {
  await using ends = new AsyncDisposableStack()
  const stop = listenForStop((code) => process.exit(code))
  ends.defer(stop.close)
  const received: Received[] = []
  let secret = ''
  const receiver = await startReceiver({
    secret: () => secret,
    onReceived: (one) => received.push(one),
  })
  ends.defer(receiver.close)
  tell(terminal, '1', 'Start', `Annex on a free port, and a receiver at ${receiver.url}`)
  const server = await startDemoServer()
  ends.defer(server.close)

  tell(terminal, '2', 'Install', 'the integration "webhook" in the sample site')
  secret = await installWebhook(server, receiver.url)
  terminal.print('  Its settings are valid, so it is active. The receiver knows the signing secret.')

  tell(terminal, '3', 'Publish', 'somebody visits a page: a site_view')
  const receipt = await publishView(server)
  terminal.print(`  ${receipt.eventId} is stored, and owed to ${receipt.installations} sandboxed script.`)

  tell(terminal, '4', 'Deliver', 'the script asks for a delivery; the receiver is down, then busy, then well')
  let signal: StopSignal | undefined
  stop.first.then((first) => {
    signal = first
  })
  const last = await watch(terminal, server, receipt, received, () => signal !== undefined)
  if (signal !== undefined) return signalExitCodes[signal]
  return tellEnd(terminal, last, received) ? exitCodes.ok : exitCodes.failed
}

async function installWebhook({ api, organization, site }: DemoServer, webhookUrl: string): Promise<string> {
  const path = '/v1/integrations/webhook'
  const installation = await api.post<Installation>(`${path}/installations`, { organization })
  await waitUntilActive(api, { installation })
  const sites = `${toPath`/v1/integrations/webhook/installations/${installation.id}`}/sites`
  const { signingSecret = '' } = await api.post<TargetInstallation>(sites, { site })
  const configuration = { webhook_url: webhookUrl, site_view: true, page_feedback: false }
  await api.patch(sites + toPath`/${site}`, { configuration })
  return signingSecret
}

async function publishView({ api, organization, site }: DemoServer): Promise<Receipt> {
  return api.post('/v1/events', createSampleEvent('site_view', { siteId: site }, {}), { organization })
}

/** Prints the feed until the delivery is settled, and with each attempt what the receiver had to say. */
async function watch(
  terminal: Terminal,
  { api }: DemoServer,
  { eventId }: Receipt,
  received: Received[],
  isStopped: () => boolean,
): Promise<FeedItem | undefined> {
  const until = Date.now() + patienceMs
  for await (const item of feedDeliveries(api, { event: eventId })) {
    if (item !== undefined) printFeedItem(terminal, item)
    if (item?.kind === 'attempt') tellReceived(terminal, received[item.attempt.number - 1])
    if (item?.kind === 'settled') return item
    if (Date.now() > until || isStopped()) return undefined
  }
  return undefined
}

function tellEnd(terminal: Terminal, last: FeedItem | undefined, received: Received[]): boolean {
  const { state, attempts } = last?.delivery ?? { state: 'owed', attempts: received.length }
  const isVerified = received.length > 0 && received.every(({ refused }) => refused === undefined)
  const isGood = state === 'delivered' && attempts === 3 && isVerified
  terminal.print()
  if (isGood) {
    terminal.print(paint('green', 'Delivered on the third attempt, its signature verified each time.'))
  } else {
    terminal.print(paint('red', `Not as it should be: ${state} after ${attempts} attempts.`))
  }
  return isGood
}

function tell(terminal: Terminal, number: string, verb: string, text: string): void {
  terminal.print()
  terminal.print(paint('bold', `${number} ${verb}`), `: ${text}`)
}

function tellReceived(terminal: Terminal, received: Received | undefined): void {
  if (received === undefined) return
  const { status, refused } = received
  const verdict = refused === undefined ? paint('green', 'signature verified') : paint('red', refused)
  terminal.print('             receiver: ', verdict, `, answered ${status}`)
}
