import { join } from 'node:path'
import { messageOf } from '../errors.ts'
import { createLocator } from '../manifest/positions.ts'
import { createProblem, type Problem } from '../manifest/problem.ts'
import { missing, type OwnFiles, readInside } from '../manifest/read-inside.ts'

const maxBytes = 256 * 1024

/** The `tsconfig.json` of a plugin folder, without the file that it extends. */
export type Tsconfig = {
  isThere: boolean
  /** `{}` when the file is missing or unusable. */
  config: Record<string, unknown>
  /** Its `compilerOptions`. */
  options: Record<string, unknown>
  warnings: Problem[]
  /** A warning at the line of an option. */
  warnAt: (option: string, complaint: { message: string; hint?: string | undefined }) => Problem
}

/** Reads the `tsconfig.json` of a plugin folder. A file that cannot be used is a warning: the script needs none. */
export async function readTsconfig(folder: string, ownFiles: OwnFiles | undefined): Promise<Tsconfig> {
  const file = join(folder, 'tsconfig.json')
  const reading = await readInside(folder, 'tsconfig.json', maxBytes, ownFiles)
  if ('problem' in reading) {
    const isMissing = reading.problem === missing
    return toTsconfig(file, '', {}, isMissing ? undefined : `it ${reading.problem}`)
  }
  const text = reading.bytes.toString('utf8').replace(/^\ufeff/, '')
  try {
    const config: unknown = JSON.parse(toJson(text))
    if (!isRecord(config)) return toTsconfig(file, text, {}, 'it is no object')
    const { compilerOptions } = config
    const isRight = compilerOptions === undefined || isRecord(compilerOptions)
    return toTsconfig(file, text, config, isRight ? undefined : '"compilerOptions" is no object')
  } catch (error) {
    return toTsconfig(file, '', {}, messageOf(error))
  }
}

function toTsconfig(
  file: string,
  text: string,
  config: Record<string, unknown>,
  problem: string | undefined,
): Tsconfig {
  const warnAt: Tsconfig['warnAt'] = (option, complaint) =>
    createProblem(file, text, locate(text, option), { severity: 'warning', ...complaint })
  return {
    isThere: text !== '' || problem !== undefined,
    config,
    options: isRecord(config.compilerOptions) ? config.compilerOptions : {},
    warnings:
      problem === undefined
        ? []
        : [warnAt('compilerOptions', { message: `tsconfig.json is not read: ${problem}` })],
    warnAt,
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Attack: a text or comment without an end. Each pattern matches up to the end then, so that the time stays linear. */
const textPattern = '"(?:[^"\\\\]|\\\\[^]?)*(?:"|$)'
const textOrComment = new RegExp(`${textPattern}|//[^\\n]*|/\\*(?:[^]*?\\*/|[^]*)`, 'g')
const textOrLastComma = new RegExp(`${textPattern}|,(?=\\s*[}\\]])`, 'g')

/** JSON without comments and trailing commas. Each character keeps its offset. */
const toJson = (text: string): string =>
  text
    .replace(textOrComment, (found) => (found.startsWith('"') ? found : found.replace(/[^\n]/g, ' ')))
    .replace(textOrLastComma, (found) => (found.startsWith('"') ? found : ' '))

function locate(text: string, option: string) {
  const json = toJson(text)
  const options = Math.max(0, json.indexOf('"compilerOptions"'))
  const key = `"${option}"`
  const at = Math.max(0, json.indexOf(key, options))
  return createLocator(text)([at, at + key.length])
}
