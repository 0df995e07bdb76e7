import { join } from 'node:path'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { messageOf } from '../errors/annex-error.ts'
import { createProblem } from './problem.ts'
import { readInside } from './read-inside.ts'
import { type ManifestReading, readManifest } from './read-manifest.ts'
import type { ReadOptions } from './read-options.ts'
import { compileTypes } from './settings/compile-types.ts'

/** `types`: the text of `generated/integration.ts`, where the folder holds another one. */
export type FolderReading = ManifestReading & { types?: string }

const maxTypesBytes = 4 * 1024 * 1024

/** Reads and checks a plugin folder's manifest, and compiles its types. Never throws for what is in the folder. */
export async function readFolder(folder: string, options: ReadOptions): Promise<FolderReading> {
  const reading = await readManifest(folder, options)
  if (reading.manifest === undefined) return reading
  try {
    const types = await newTypes(folder, reading.manifest, options)
    return { ...reading, ...(types !== undefined && { types }) }
  } catch (error) {
    // No manifest is known that gets here. Its script runs without types.
    const message = `its settings have no types: ${messageOf(error)}`
    const problem = createProblem(reading.file, '', { line: 1, column: 1 }, { severity: 'warning', message })
    return { ...reading, problems: [...reading.problems, problem] }
  }
}

async function newTypes(
  folder: string,
  manifest: Manifest,
  { ownFiles }: ReadOptions,
): Promise<string | undefined> {
  const held = await readInside(folder, join('generated', 'integration.ts'), maxTypesBytes, ownFiles)
  const kept = 'bytes' in held ? held.bytes.toString('utf8') : ''
  const text = await compileTypes(manifest, kept)
  return text === kept ? undefined : text
}
