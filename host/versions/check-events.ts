import { join } from 'node:path'
import { eventSchemas } from '../../schemas/events.ts'
import type { Bundle } from '../bundle/bundle-script.ts'
import { ownSourcesOf } from '../bundle/own-sources.ts'
import { hintForName, quoteValue } from '../manifest/message-text.ts'
import { createLocator } from '../manifest/positions.ts'
import { createProblem, maxProblems, type Problem } from '../manifest/problem.ts'

/** Events of the other platform, now or once, that Annex does not send. Its scripts handle them, too. */
const sentElsewhere = ['space_gitsync_started', 'space_gitsync_completed', 'space_view']
/** A dispatch finds these handlers in `events`, too. */
const answeredThere = ['fetch_published_script', 'fetch_visitor_authentication']
/** Where to write handlers that no dispatch finds in `events`. */
const elsewhere: Readonly<Record<string, string>> = {
  fetch: 'as "fetch" beside "events"',
  task: 'as "task" beside "events"',
  ui_render: 'into a component of "components"',
  content_compute_revision: 'as "getRevision" of a source in "contentSources"',
  content_compute_document: 'as "getPageDocument" of a source in "contentSources"',
}

const sentHere = Object.keys(eventSchemas)
const known: ReadonlySet<string> = new Set([...sentHere, ...sentElsewhere, ...answeredThere])

export type CheckedScript = { folder: string; script: string; bundle: Bundle }

/**
 * An error for each handled event that does not exist, with the nearest name. A script can claim to handle anything, so the
 * number of problems is limited.
 */
export function findUnknownEvents(events: readonly string[], checked: CheckedScript): Problem[] {
  const unknown = [...new Set(events)].filter((type) => !known.has(type)).slice(0, maxProblems)
  if (unknown.length === 0) return []
  const sources = ownSourcesOf(checked.bundle, checked.script)
  return unknown.map((type) => {
    const where = Object.hasOwn(elsewhere, type) ? elsewhere[type] : undefined
    const complaint =
      where === undefined
        ? { message: `there is no event ${quoteValue(type)}`, hint: hintForName(type, sentHere, 'events') }
        : {
            severity: 'warning' as const,
            message: `a handler for "${type}" in "events" never runs`,
            hint: `write it ${where}`,
          }
    for (const { path, text } of sources) {
      const span = findKey(text, type)
      if (span !== undefined) {
        return createProblem(join(checked.folder, path), text, createLocator(text)(span), complaint)
      }
    }
    return createProblem(join(checked.folder, checked.script), '', { line: 1, column: 1 }, complaint)
  })
}

/** Where a text has `name` as a key: before a colon, a bracket, a comma or the end of an object. */
function findKey(text: string, name: string): [number, number] | undefined {
  if (!/^\w{1,100}$/.test(name)) return undefined
  const key = new RegExp(`(?<![\\w$])${name}(?=['"]?\\s*[\\]:(,}])`)
  const found = key.exec(text)
  return found === null ? undefined : [found.index, found.index + name.length]
}
