import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { PublishableEventType } from '../../schemas/events.ts'
import { messageOf } from '../errors/annex-error.ts'
import { assertExact } from '../errors/exact-numbers.ts'
import { createSampleEvent, placesOf, type SamplePlace } from '../events/sample-event.ts'
import { toPath } from './client.ts'
import { parseEventType } from './commands/events/event-type.ts'
import { followEvent } from './commands/events/follow-event.ts'
import { findOrganization, findPlace } from './find-records.ts'
import type { Organization, Receipt } from './records.ts'
import { exitCodes } from './report-error.ts'
import { openSession, type Session } from './session.ts'
import { toSafeLine } from './terminal/safe-text.ts'
import { paint } from './terminal.ts'
import { UsageError } from './usage-error.ts'
import { withExamples } from './with-examples.ts'

type Options = { org?: string; site?: string; space?: string; data?: string; follow?: boolean }

/** `annex events publish`: what a documentation platform does, from the terminal. */
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
    .description('publish an event; fields that are not given get plausible values')
    .argument('<type>', 'site_view, page_feedback or space_content_updated')
    .option('--org <name>', 'organization: id or subdomain')
    .option('--site <name>', 'site: id or slug; without one, the only site')
    .option('--space <name>', 'space: id or slug; without one, the only space')
    .option('--data <json>', 'fields of the event as JSON, or @file')
    .option(
      '--follow',
      'print what becomes of it to the end; exit code 1 when a handler or a delivery failed',
    )
    .action(publish)
  withExamples(command, examples)
}

async function publish(text: string, options: Options, command: Command): Promise<void> {
  const type = parseEventType(text)
  const given = readData(options.data)
  const session = openSession(command)
  const { api, terminal } = session
  const organization = await findOrganization(session, options.org)
  const place = await findSamplePlace(session, organization, type, options, given)
  const event = createSampleEvent(type, place, given)
  const receipt = await api.post<Receipt>('/v1/events', event, { organization: organization.id })
  if (terminal.json) terminal.printJsonLine(receipt)
  else printReceipt(session, type, receipt)
  if (options.follow === true && !(await followEvent(session, receipt))) {
    process.exitCode = exitCodes.failed
  }
}

function printReceipt({ terminal }: Session, type: string, receipt: Receipt): void {
  const { eventId, duplicate, installations, waiting = [], skipped = [] } = receipt
  terminal.print(paint('bold', eventId), ` ${type}`)
  if (duplicate) return terminal.say('An event with this id was published before: nothing was done.')
  terminal.say(`Stored for ${installations} ${installations === 1 ? 'installation' : 'installations'}.`)
  for (const id of waiting) terminal.say(`It waits until \`annex resume ${id}\`.`)
  for (const { integration, installation, message } of skipped) {
    terminal.say(`Passed by ${integration} ${installation}: ${toSafeLine(message, 300)}`)
  }
}

/** @throws UsageError */
function readData(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {}
  try {
    const json = text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text
    const value = JSON.parse(json)
    assertExact(json)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch (error) {
    throw new UsageError(`--data cannot be read: ${messageOf(error).replace(/\.$/, '')}.`)
  }
  throw new UsageError('--data takes a JSON object, or @ and the name of a file that holds one.')
}

/** Looks up only what the type needs and the caller has not given. */
async function findSamplePlace(
  session: Session,
  organization: Organization,
  type: PublishableEventType,
  options: Options,
  given: Record<string, unknown>,
): Promise<SamplePlace> {
  const needs = (field: keyof SamplePlace) => placesOf[type].includes(field) && given[field] === undefined
  const place: SamplePlace = {}
  if (needs('siteId')) place.siteId = (await findPlace(session, organization, 'site', options.site)).id
  if (!needs('spaceId') && !needs('pageId') && !needs('revisionId')) return place
  const named = typeof given.spaceId === 'string' ? given.spaceId : options.space
  const space = await findPlace(session, organization, 'space', named)
  if (needs('spaceId')) place.spaceId = space.id
  if (needs('revisionId')) place.revisionId = space.revision ?? 'rev_sample'
  if (needs('pageId')) place.pageId = await findFirstPage(session, space.id)
  return place
}

async function findFirstPage({ api }: Session, spaceId: string): Promise<string> {
  const { pages } = await api.get<{ pages: { id: string }[] }>(toPath`/v1/spaces/${spaceId}/content/pages`)
  return pages[0]?.id ?? 'page_sample'
}
