import { join } from 'node:path'
import { eventSchemas } from '../../schemas/events.ts'
import type { Bundle } from '../bundle/bundle-script.ts'
import { hintForName, quoteValue } from '../manifest/message-text.ts'
import { createLocator } from '../manifest/positions.ts'
import { createProblem, maxProblems, type Problem } from '../manifest/problem.ts'
import { type OwnFiles, readInside } from '../manifest/read-inside.ts'

/** Events of the other platform, now or once, that Annex does not send. Its scripts handle them, too. */
const sentElsewhere = ['space_gitsync_started', 'space_gitsync_completed', 'space_view']
/** A dispatch finds these handlers in `events`, too. */
const answeredThere = ['fetch_published_script', 'fetch_visitor_authentication']
/** The place of handlers that no dispatch finds in `events`. */
const elsewhere: Readonly<Record<string, string>> = {
  fetch: 'as "fetch" beside "events"',
  task: 'as "task" beside "events"',
  ui_render: 'into a component of "components"',
  content_compute_revision: 'as "getRevision" of a source in "contentSources"',
  content_compute_document: 'as "getPageDocument" of a source in "contentSources"',
}

const sentHere = Object.keys(eventSchemas)
const known: ReadonlySet<string> = new Set([...sentHere, ...sentElsewhere, ...answeredThere])

const maxSourceBytes = 1024 * 1024

export type CheckedScript = { folder: string; script: string; bundle: Bundle; ownFiles: OwnFiles | undefined }

/**
 * An error for each handled event that does not exist, with the nearest name. A script can claim to handle anything, so the
 * number of problems is limited.
 */
export async function findUnknownEvents(
  events: readonly string[],
  checked: CheckedScript,
): Promise<Problem[]> {
  const unknown = [...new Set(events)].filter((type) => !known.has(type)).slice(0, maxProblems)
  if (unknown.length === 0) return []
  const sources = await readSources(checked)
  return unknown.map((type) => {
    const place = Object.hasOwn(elsewhere, type) ? elsewhere[type] : undefined
    const complaint =
      place === undefined
        ? { message: `there is no event ${quoteValue(type)}`, hint: hintForName(type, sentHere, 'events') }
        : {
            severity: 'warning' as const,
            message: `a handler for "${type}" in "events" never runs`,
            hint: `write it ${place}`,
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

/** The author's own files, the script first. */
async function readSources({ folder, script, bundle, ownFiles }: CheckedScript) {
  const inputs = Object.keys(bundle.inputs).filter((path) => !/^@annex\/|(^|\/)node_modules\//.test(path))
  const sources: { path: string; text: string }[] = []
  for (const path of new Set([script, ...inputs])) {
    const reading = await readInside(folder, path, maxSourceBytes, ownFiles)
    if ('bytes' in reading) sources.push({ path, text: reading.bytes.toString('utf8') })
  }
  return sources
}

/** Where a text has `name` as a key: before a colon, a bracket, a comma or the end of an object. */
function findKey(text: string, name: string): [number, number] | undefined {
  if (!/^\w{1,100}$/.test(name)) return undefined
  const key = new RegExp(`(?<![\\w$])${name}(?=['"]?\\s*[\\]:(,}])`)
  const found = key.exec(text)
  return found === null ? undefined : [found.index, found.index + name.length]
}
