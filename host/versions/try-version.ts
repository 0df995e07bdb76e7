import { join } from 'node:path'
import { eventRules, hasScopeFor, type PlaceEventType } from '../../schemas/events.ts'
import type { Bundle } from '../bundle/bundle-script.ts'
import { findThrown } from '../bundle/map-stack.ts'
import { createProblem, type Problem, problemAt } from '../manifest/problem.ts'
import type { OwnFiles } from '../manifest/read-inside.ts'
import { readInside } from '../manifest/read-inside.ts'
import type { ManifestFrames } from '../manifest/read-manifest.ts'
import { findUnknownEvents } from './check-events.ts'
import { compareIds, type DefinedIds } from './compare-ids.ts'

/** The error that a script threw, with the isolate's stack, or the limit that it exceeded. */
export type LoadFailure = { message: string; stack?: string }

/** `events`: the event types that the script says it handles, and `ids` those that it defines, where they are known. */
export type Tried = { failure?: LoadFailure; events?: string[]; ids?: DefinedIds }

/** Loads a bundle once, in a sandbox process for this purpose only, which versions of other publishers never share. */
export type TryLoad = (version: { publisher: string; integration: string; code: string }) => Promise<Tried>

/** What a manifest declares of its script, with the locations. */
type Declared = { scopes: readonly string[]; frames: Pick<ManifestFrames, 'scopes' | 'ids'> }

const maxShownBytes = 1024 * 1024

/**
 * Loads a version's script before it gets requests.
 *
 * @returns `problems`: an error at the author's line, an error for each handled event that does not exist, or a warning for
 *   each whose scope is not declared, and for each id that only the manifest or only the script has
 */
export async function tryVersion(
  tryLoad: TryLoad,
  {
    folder,
    publisher,
    integration,
    script,
    bundle,
    ownFiles,
    declared,
  }: {
    folder: string
    publisher: string
    integration: string
    /** A manifest without a script has nothing to load. */
    script: string | undefined
    bundle: Bundle
    ownFiles: OwnFiles | undefined
    /** Absent when the manifest has errors. */
    declared?: Declared | undefined
  },
): Promise<{ problems: Problem[]; events?: string[] }> {
  if (script === undefined) return { problems: [], events: [] }
  const { failure, events, ids } = await tryLoad({ publisher, integration, code: bundle.code })
  if (failure === undefined) {
    const unknown = findUnknownEvents(events ?? [], { folder, script, bundle })
    const unscoped = declared === undefined ? [] : findMissingScopes(events ?? [], declared)
    const unequal =
      declared === undefined || ids === undefined
        ? []
        : compareIds(declared.frames.ids, ids, { folder, script, bundle })
    return { problems: [...unknown, ...unscoped, ...unequal], ...(events && { events }) }
  }
  const { stack = '' } = failure
  const hint = /^\s*(caused by: .{1,200})/m.exec(stack)?.[1]
  const complaint = { message: `the script cannot be loaded: ${failure.message}`, hint }
  const thrownAt = findThrown(stack, bundle.map, integration)
  if (thrownAt === undefined)
    return { problems: [createProblem(join(folder, script), '', { line: 1, column: 1 }, complaint)] }
  const reading = await readInside(folder, thrownAt.source, maxShownBytes, ownFiles)
  const source = 'bytes' in reading ? reading.bytes.toString('utf8') : ''
  return { problems: [createProblem(join(folder, thrownAt.source), source, thrownAt, complaint)] }
}

/** An event never reaches its handler without a declared scope. */
function findMissingScopes(events: readonly string[], { scopes, frames }: Declared): Problem[] {
  const types = Object.keys(eventRules) as PlaceEventType[]
  const missing = types.filter((type) => events.includes(type) && !hasScopeFor(type, scopes))
  return missing.map((type) =>
    problemAt(frames.scopes, {
      severity: 'warning',
      message: `the script handles "${type}", and the manifest does not declare its scope`,
      hint: `add ${eventRules[type].scopes.join(' or ')} to "scopes"`,
    }),
  )
}
