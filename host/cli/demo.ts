import type { Command } from 'commander'
import { createClient } from '../../schemas/client.ts'
import { waitUntilActive } from './configure.ts'
import { type FeedItem, pollDeliveries, printFeedItem } from './delivery-feed.ts'
import type { DemoServer, Received } from './demo-servers.ts'
import { exitCodes, listenForStop, type StopSignal, signalExitCodes } from './exit.ts'
import { readLevel } from './find-records.ts'
import { toAgreement } from './install.ts'
import { withExamples } from './options.ts'
import { openTerminal } from './session.ts'
import { paint, type Terminal } from './terminal.ts'

export function addDemo(program: Command): void {
  const command = program
    .command('demo')
    .description('show the main job: an event becomes a signed webhook, delivered after two retries')
    .action(async (_options: object, command: Command) => {
      const terminal = openTerminal(command)
      terminal.setExitCode(await runDemo(terminal))
    })
  withExamples(command, ['annex demo'])
}

/** The two retries come after 1 s and 2 s. */
const timeoutMs = 25_000

/**
 * Installs, publishes, fails twice and delivers, with a real server, sandbox, database and receiver. It removes all of
 * them at its end.
 *
 * @returns the exit code: 0 when the third attempt delivered the event and the receiver accepted each signature; the
 *   code of a signal that ended the demo
 */
async function runDemo(terminal: Terminal): Promise<number> {
  // Other commands start faster without the host.
  const { startDemoReceiver, startDemoServer } = await import('./demo-servers.ts')
  await using ends = new AsyncDisposableStack()
  const stop = listenForStop((code) => process.exit(code))
  ends.defer(stop.close)
  const received: Received[] = []
  let secret = ''
  const receiver = await startDemoReceiver({
    secret: () => secret,
    onReceived: (request) => received.push(request),
  })
  ends.defer(receiver.close)
  printStep(terminal, '1', 'Start', `Annex on a free port, and a receiver at ${receiver.url}`)
  const server = await startDemoServer()
  ends.defer(server.close)

  printStep(terminal, '2', 'Install', 'the integration "webhook" in the sample site')
  secret = await installWebhook(server, receiver.url)
  terminal.print('  Its settings are valid, so it is active. The receiver knows the signing secret.')

  printStep(
    terminal,
    '3',
    'Publish',
    `a visitor opens ${page}, which includes the site's script: a site_view`,
  )
  const eventId = await openPage(server)
  terminal.print(`  Its script sent the view, and Annex stored it as ${eventId}.`)

  printStep(
    terminal,
    '4',
    'Deliver',
    'the script queues a delivery; the receiver is down, then busy, then well',
  )
  let signal: StopSignal | undefined
  stop.first.then((first) => {
    signal = first
  })
  const last = await followDelivery(terminal, server, eventId, received, () => signal !== undefined)
  if (signal !== undefined) return signalExitCodes[signal]
  return printResult(terminal, last, received) ? exitCodes.ok : exitCodes.failed
}

async function installWebhook({ api, organization, site }: DemoServer, webhookUrl: string): Promise<string> {
  const integration = 'webhook'
  const asked = await api.call('GET /v1/integrations/{integration}', { params: { integration } })
  const { id } = await api.call('POST /v1/integrations/{integration}/installations', {
    params: { integration },
    body: { organization, ...toAgreement(asked) },
  })
  const params = { integration, installation: id }
  await waitUntilActive(() => readLevel(api, params))
  const { signingSecret } = await api.call(
    'POST /v1/integrations/{integration}/installations/{installation}/sites',
    { params, body: { site } },
  )
  const configuration = { webhook_url: webhookUrl, site_view: true, page_feedback: false }
  await api.call('PATCH /v1/integrations/{integration}/installations/{installation}', {
    params: { ...params, site },
    headers: { 'if-match': '*' },
    body: { configuration },
  })
  return signingSecret
}

const page = 'https://docs.example.com/welcome'

/** Sends what the site's script sends from a browser. @returns the id of the event */
async function openPage({ api, url, organization, site }: DemoServer): Promise<string> {
  const urlOrigin = new URL(page).origin
  const { key } = await api.call('PUT /v1/orgs/{org}/sites/{site}/script', {
    params: { org: organization, site },
    body: { origins: [urlOrigin] },
  })
  const { eventId } = await createClient({ url }).call('POST /v1/sites/{site}/views', {
    params: { site },
    headers: { origin: urlOrigin, 'content-type': 'text/plain' },
    body: { key, url: page, referrer: 'https://www.example.com/' },
  })
  return eventId
}

/** Prints the feed until the delivery is settled, and the receiver's answer to each attempt. */
async function followDelivery(
  terminal: Terminal,
  { api }: DemoServer,
  eventId: string,
  received: Received[],
  isStopped: () => boolean,
): Promise<FeedItem | undefined> {
  const until = Date.now() + timeoutMs
  for await (const item of pollDeliveries(api, { event: eventId })) {
    if (item !== undefined) printFeedItem(terminal, item)
    if (item?.kind === 'attempt') printReceived(terminal, received[item.attempt.number - 1])
    if (item?.kind === 'settled') return item
    if (Date.now() > until || isStopped()) return undefined
  }
  return undefined
}

function printReceived(terminal: Terminal, received: Received | undefined): void {
  if (received === undefined) return
  const { status, refused } = received
  const verdict = refused === undefined ? paint('green', 'signature verified') : paint('red', refused)
  terminal.print('             receiver: ', verdict, `, answered ${status}`)
}

function printResult(terminal: Terminal, last: FeedItem | undefined, received: Received[]): boolean {
  const { state, attempts } = last?.delivery ?? { state: 'pending', attempts: received.length }
  const isVerified = received.length > 0 && received.every(({ refused }) => refused === undefined)
  const isExpected = state === 'delivered' && attempts === 3 && isVerified
  terminal.print()
  terminal.print(
    isExpected
      ? paint('green', 'Delivered on the third attempt, its signature verified each time.')
      : paint('red', `Unexpected result: ${state} after ${attempts} attempts.`),
  )
  return isExpected
}

function printStep(terminal: Terminal, number: string, verb: string, text: string): void {
  terminal.print()
  terminal.print(paint('bold', `${number} ${verb}`), `: ${text}`)
}
