import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { Client } from '../../schemas/client.ts'
import { type PublishableEventType, publishableEventTypes } from '../../schemas/events.ts'
import type { EventToPublish, PublishReceipt } from '../../schemas/generated/api/events.ts'
import type { Job } from '../../schemas/generated/api/jobs.ts'
import type { Organization } from '../../schemas/generated/api/organizations.ts'
import type { Receipt } from '../../schemas/generated/api/receipts.ts'
import { assertExact, isJsonObject } from '../assert-json.ts'
import { messageOf } from '../errors.ts'
import { createSampleEvent, idFieldsOf, type SampleIds } from '../events/sample-event.ts'
import { hintForName, quoteValue } from '../manifest/message-text.ts'
import { pollDeliveries, printFeedItem } from './delivery-feed.ts'
import { exitCodes } from './exit.ts'
import { findOrganization, findSiteOrSpace } from './find-records.ts'
import { describeCalls, toShort } from './logs.ts'
import { UsageError, withExamples } from './options.ts'
import { openSession, type Session } from './session.ts'
import { paint, type Terminal, toSafeLine } from './terminal.ts'

type Options = { org?: string; site?: string; space?: string; data?: string; follow?: boolean }

export function addEvents(program: Command): void {
  const events = program.command('events').description('publish events')
  const examples = [
    'annex events publish site_view --site sample --follow',
    'annex events publish page_feedback --data \'{"feedback":{"rating":"bad","comment":"Too short."}}\'',
    'annex events publish site_view --data @event.json --json',
  ]
  withExamples(events, examples)
  const command = events
    .command('publish')
    .description('publish an event; missing fields get sample values')
    .argument('<type>', 'site_view, page_feedback or space_content_updated')
    .option('--org <name>', 'organization: id or subdomain')
    .option('--site <name>', 'site: id or slug; default: the only site')
    .option('--space <name>', 'space: id or slug; default: the only space')
    .option('--data <json>', 'fields of the event as JSON, or @file')
    .option('--follow', 'print its handlers and deliveries until they end; exit code 1 when one failed')
    .action(publish)
  withExamples(command, examples)
}

async function publish(text: string, options: Options, command: Command): Promise<void> {
  const type = parseEventType(text)
  const given = readData(options.data)
  const session = openSession(command)
  const { api, terminal } = session
  const organization = await findOrganization(session, options.org)
  const ids = await findSampleIds(session, organization, type, options, given)
  const event: object = createSampleEvent(type, ids, given)
  const receipt = await api.call('POST /v1/events', {
    query: { organization: organization.id },
    // The server checks the fields of --data.
    body: event as EventToPublish,
  })
  if (terminal.json) terminal.printJsonLine(receipt)
  else printReceipt(session, type, receipt)
  if (options.follow === true && !(await followEvent(session, receipt))) {
    terminal.setExitCode(exitCodes.failed)
  }
}

function printReceipt({ terminal }: Session, type: string, receipt: PublishReceipt): void {
  const { eventId, duplicate, installations, waiting = [], skipped = [] } = receipt
  terminal.print(paint('bold', eventId), ` ${type}`)
  if (duplicate) return terminal.say('An event with this id was published before: it is not stored again.')
  terminal.say(`Stored for ${installations} ${installations === 1 ? 'installation' : 'installations'}.`)
  for (const id of waiting) terminal.say(`Waits for \`npx annex resume ${id}\`.`)
  for (const { integration, installation, message } of skipped) {
    terminal.say(`Skipped ${integration} ${installation}: ${toSafeLine(message, 300)}`)
  }
}

/** @throws UsageError */
function readData(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {}
  try {
    const json = text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text
    const value = JSON.parse(json)
    assertExact(json)
    if (isJsonObject(value)) return value
  } catch (error) {
    throw new UsageError(`--data cannot be read: ${messageOf(error).replace(/\.$/, '')}.`)
  }
  throw new UsageError('--data takes a JSON object, or @ and the name of a file that holds one.')
}

/** Finds the site, space and page that the event type needs and `given` lacks. */
async function findSampleIds(
  session: Session,
  organization: Organization,
  type: PublishableEventType,
  options: Options,
  given: Record<string, unknown>,
): Promise<SampleIds> {
  const needs = (field: keyof SampleIds) => idFieldsOf[type].includes(field) && given[field] === undefined
  const ids: SampleIds = {}
  if (needs('siteId')) ids.siteId = (await findSiteOrSpace(session, organization, 'site', options.site)).id
  if (!needs('spaceId') && !needs('pageId') && !needs('revisionId')) return ids
  const named = typeof given.spaceId === 'string' ? given.spaceId : options.space
  const space = await findSiteOrSpace(session, organization, 'space', named)
  if (needs('spaceId')) ids.spaceId = space.id
  if (needs('revisionId')) ids.revisionId = ('revision' in space ? space.revision : null) ?? 'rev_sample'
  if (needs('pageId')) ids.pageId = await findFirstPage(session, space.id)
  return ids
}

async function findFirstPage({ api }: Session, spaceId: string): Promise<string> {
  const params = { space: spaceId }
  const { pages } = await api.call('GET /v1/spaces/{space}/content/pages', { params })
  return pages[0]?.id ?? 'page_sample'
}

/** @throws UsageError, which names the nearest type */
function parseEventType(text: string): PublishableEventType {
  const found = publishableEventTypes.find((type) => type === text)
  if (found !== undefined) return found
  throw new UsageError(
    `There is no event type ${quoteValue(text)} to publish; ${hintForName(text, publishableEventTypes, 'there are')}.`,
  )
}

/** A handler may queue deliveries in its `waitUntil` after its answer, for about this time. */
const quietMs = 3_000

/**
 * Prints the deliveries of an event until its handlers have ended and all deliveries are settled. Then prints the calls
 * and the duration of each handler.
 *
 * @returns false when a handler or a delivery failed
 */
async function followEvent(
  { api, terminal }: Pick<Session, 'api' | 'terminal'>,
  { eventId, installations }: Pick<PublishReceipt, 'eventId' | 'installations'>,
): Promise<boolean> {
  const states = new Map<string, string>()
  const handlers = watchHandlers(api, terminal, eventId)
  let changedAt = Date.now()
  for await (const item of pollDeliveries(api, { event: eventId })) {
    if (item !== undefined) {
      states.set(item.delivery.id, item.delivery.state)
      changedAt = Date.now()
      printFeedItem(terminal, item)
      continue
    }
    const isSettled = ![...states.values()].includes('pending')
    const isComplete = states.size >= installations || Date.now() - changedAt > quietMs
    // The last poll of the jobs came before that of the deliveries: the list has all deliveries of ended handlers.
    if (handlers.areDone() && isSettled && isComplete) break
    if (await handlers.haveWork()) changedAt = Date.now()
  }
  const query = { event: eventId, limit: 200 }
  const failed = await api.call('GET /v1/jobs', { query })
  const receipts = await api.call('GET /v1/receipts', { query })
  // Receipts come newest first. The last run of a retried handler counts.
  const lastRuns = new Map(receipts.items.toReversed().map((receipt) => [receipt.installation, receipt]))
  for (const receipt of lastRuns.values()) sayHandled(terminal, receipt)
  for (const job of failed.items) terminal.say(toFailure(job))
  if (installations === 0) terminal.say('No installation takes this event. See `npx annex installations`.')
  return failed.count === 0 && ![...states.values()].includes('failed')
}

function sayHandled(terminal: Terminal, receipt: Receipt): void {
  const { integration, installation = '', type, outcome, wallMs, request } = receipt
  const name = `${integration} ${installation}`
  if (outcome === 'no_handler') terminal.say(`${name} has no handler for ${toSafeLine(type)}.`)
  if (outcome !== 'ok') return
  terminal.say(
    `${name} handled it in ${toShort(wallMs)} ms${describeCalls(receipt)}. See \`npx annex logs ${request}\`.`,
  )
}

/** A job may change its state between two polls. Handlers have ended after this many polls without a job. */
const emptyPollsAtEnd = 2

function watchHandlers(api: Client, terminal: Terminal, eventId: string) {
  let emptyPolls = 0
  let hasSaid = false
  return {
    areDone: () => emptyPolls >= emptyPollsAtEnd,
    async haveWork(): Promise<boolean> {
      if (emptyPolls >= emptyPollsAtEnd) return false
      let found = 0
      for (const state of ['waiting', 'due', 'running'] as const) {
        const query = { event: eventId, state, limit: 200 }
        const { items } = await api.call('GET /v1/jobs', { query })
        found += items.length
        if (state === 'waiting' && items.length > 0 && !hasSaid) {
          hasSaid = true
          terminal.say(`Waits for a resume of ${items.map(({ installation }) => installation).join(', ')}.`)
        }
      }
      emptyPolls = found === 0 ? emptyPolls + 1 : 0
      return found > 0
    },
  }
}

const toFailure = ({ id, integration, error }: Job): string =>
  `${integration} has not handled it: ${toSafeLine(error?.message ?? 'it failed')} See \`npx annex jobs show ${id}\`.`
