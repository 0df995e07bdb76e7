import { join } from 'node:path'
import type { Bundle } from '../bundle/bundle-script.ts'
import { findThrown } from '../bundle/map-stack.ts'
import type { OwnFiles } from '../manifest/own-files.ts'
import { createProblem, type Problem } from '../manifest/problems/problem.ts'
import { readInside } from '../manifest/read-inside.ts'

/** Why a script cannot be loaded: what it threw, with its stack as the isolate has it, or the limit that it went over. */
export type LoadFailure = { message: string; stack?: string }

/** Loads a bundle once, in a sandbox process that is thrown away. @returns nothing when it can be loaded */
export type TryLoad = (integration: string, code: string) => Promise<LoadFailure | undefined>

const maxShownBytes = 1024 * 1024

/** What a version's script does when it is loaded, before a request meets it: the problem, at the author's line. */
export async function tryVersion(
  tryLoad: TryLoad,
  {
    folder,
    integration,
    script,
    bundle,
    ownFiles,
  }: { folder: string; integration: string; script: string; bundle: Bundle; ownFiles: OwnFiles | undefined },
): Promise<Problem | undefined> {
  const failure = await tryLoad(integration, bundle.code)
  if (failure === undefined) return undefined
  const { stack = '' } = failure
  const hint = /^\s*(caused by: .{1,200})/m.exec(stack)?.[1]
  const complaint = { message: `the script cannot be loaded: ${failure.message}`, hint }
  const place = findThrown(stack, bundle.map, integration)
  if (place === undefined) return createProblem(join(folder, script), '', { line: 1, column: 1 }, complaint)
  const reading = await readInside(folder, place.source, maxShownBytes, ownFiles)
  const source = 'bytes' in reading ? reading.bytes.toString('utf8') : ''
  return createProblem(join(folder, place.source), source, place, complaint)
}
