import { join } from 'node:path'
import { publishableEventTypes } from '../../schemas/events.ts'
import type { Bundle } from '../bundle/bundle-script.ts'
import { findThrown } from '../bundle/map-stack.ts'
import { eventRules, hasScopeFor } from '../manifest/event-rules.ts'
import type { OwnFiles } from '../manifest/own-files.ts'
import { createProblem, type Problem, problemAt, type Spot } from '../manifest/problem.ts'
import { readInside } from '../manifest/read-inside.ts'

/** Why a script cannot be loaded: what it threw, with its stack as the isolate has it, or the limit that it went over. */
export type LoadFailure = { message: string; stack?: string }

/** `events`: the types that the script has a handler for, as far as it says. */
export type Tried = { failure?: LoadFailure; events: string[] }

/** Loads a bundle once, in a sandbox process that is thrown away. */
export type TryLoad = (integration: string, code: string) => Promise<Tried>

const maxShownBytes = 1024 * 1024

/**
 * Loads a version's script before a request meets it.
 *
 * @returns an error at the author's line, or a warning for each handler of an event whose scope the manifest lacks
 */
export async function tryVersion(
  tryLoad: TryLoad,
  {
    folder,
    integration,
    script,
    bundle,
    ownFiles,
    declared,
  }: {
    folder: string
    integration: string
    script: string
    bundle: Bundle
    ownFiles: OwnFiles | undefined
    /** Left out where the manifest has errors. */
    declared?: { scopes: readonly string[]; spot: Spot } | undefined
  },
): Promise<Problem[]> {
  const { failure, events } = await tryLoad(integration, bundle.code)
  if (failure === undefined) return declared === undefined ? [] : missingScopes(events, declared)
  const { stack = '' } = failure
  const hint = /^\s*(caused by: .{1,200})/m.exec(stack)?.[1]
  const complaint = { message: `the script cannot be loaded: ${failure.message}`, hint }
  const place = findThrown(stack, bundle.map, integration)
  if (place === undefined) return [createProblem(join(folder, script), '', { line: 1, column: 1 }, complaint)]
  const reading = await readInside(folder, place.source, maxShownBytes, ownFiles)
  const source = 'bytes' in reading ? reading.bytes.toString('utf8') : ''
  return [createProblem(join(folder, place.source), source, place, complaint)]
}

/** An event whose scope is not declared never reaches its handler. */
function missingScopes(
  events: readonly string[],
  { scopes, spot }: { scopes: readonly string[]; spot: Spot },
): Problem[] {
  const missing = publishableEventTypes.filter((type) => events.includes(type) && !hasScopeFor(type, scopes))
  return missing.map((type) =>
    problemAt(spot, {
      severity: 'warning',
      message: `the script handles "${type}", and the manifest does not declare its scope`,
      hint: `add ${eventRules[type].scopes.join(' or ')} to "scopes"`,
    }),
  )
}
