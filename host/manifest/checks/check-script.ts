import { extname } from 'node:path'
import type { Manifest } from '../../../schemas/generated/manifest.ts'
import { quoteValue } from '../message-text.ts'
import type { Finding } from '../problem.ts'
import { readInside } from '../read-inside.ts'
import type { ReadOptions } from '../read-options.ts'

const maxScriptBytes = 5 * 1024 * 1024
const extensions = ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx']

/** The script exists within the folder (spec 2.1). The trial of its version finds out whether it calls `createIntegration`. */
export async function checkScript(
  folder: string,
  { script }: Partial<Manifest>,
  { ownFiles }: Pick<ReadOptions, 'ownFiles'>,
): Promise<Finding[]> {
  if (script === undefined) return []
  const complain = (message: string, hint?: string): Finding[] => [
    { pointer: '/script', at: 'value', message: `the script ${quoteValue(script)} ${message}`, hint },
  ]
  if (!extensions.includes(extname(script))) {
    return complain('is not TypeScript or JavaScript', `its name must end in ${extensions.join(', ')}`)
  }
  const reading = await readInside(folder, script, maxScriptBytes, ownFiles)
  return 'problem' in reading ? complain(reading.problem) : []
}
