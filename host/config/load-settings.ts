import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { parse } from 'dotenv'
import { AnnexError, type ErrorDetail } from '../errors/annex-error.ts'
import { describeWrongEntry, parseAllowEntry, parseHostName } from './allow-entry.ts'
import { type SettingName, settingsTable } from './settings-table.ts'

type Parsed = {
  text: string
  integer: number
  flag: boolean
  list: string[]
  choice: string
  url: string
  key: string
  seconds: number[]
  host: string
  allow: string[]
}

export type Settings = { readonly [N in SettingName]: Parsed[(typeof settingsTable)[N]['kind']] }

export type SettingSource = 'flag' | 'environment' | '.env' | 'default'

export type LoadedSettings = {
  settings: Settings
  sources: Record<SettingName, SettingSource>
  /** The environment over `.env`: where the secrets of manifests are looked up. */
  variables: Texts
  /** The same, with `.env` read again. @throws AnnexError `settings_invalid` when it cannot be read */
  readVariables: () => Texts
}

type Texts = { readonly [name: string]: string | undefined }

/**
 * Reads every setting of the table. A secret may also be given as `NAME_FILE`, the path of a file that holds
 * it. All wrong values are reported at once.
 *
 * @throws AnnexError `settings_invalid`, with a detail for each wrong setting
 */
export function loadSettings(
  given: { flags?: Texts; environment?: Texts; envFile?: string } = {},
): LoadedSettings {
  const environment = given.environment ?? process.env
  const envPath = given.envFile ?? '.env'
  const envFile = readEnvFile(envPath)
  const layers: [SettingSource, Texts][] = [
    ['flag', given.flags ?? {}],
    ['environment', environment],
    ['.env', envFile],
  ]
  const details: ErrorDetail[] = []
  const values: Record<string, Parsed[keyof Parsed]> = {}
  const sources: Record<string, SettingSource> = {}
  for (const [name, setting] of Object.entries(settingsTable)) {
    const found = findText(name, layers, details)
    const parsed = parseSetting(found?.text ?? setting.default, setting)
    sources[name] = found?.source ?? 'default'
    if (typeof parsed === 'object' && 'problem' in parsed) {
      details.push({ path: name, message: `${parsed.problem} (from ${sources[name]})` })
    } else {
      values[name] = parsed
    }
  }
  if (details.length > 0) {
    const list = details.map((detail) => `  ${detail.path}: ${detail.message}`).join('\n')
    throw new AnnexError('settings_invalid', `These settings cannot be used:\n${list}`, { details })
  }
  return {
    settings: values as Settings,
    sources: sources as Record<SettingName, SettingSource>,
    variables: { ...envFile, ...environment },
    readVariables: () => ({ ...readEnvFile(envPath), ...environment }),
  }
}

function findText(
  name: string,
  layers: [SettingSource, Texts][],
  details: ErrorDetail[],
): { text: string; source: SettingSource } | undefined {
  for (const [source, texts] of layers) {
    const text = texts[name]
    if (text !== undefined && text !== '') return { text, source }
    const path = texts[`${name}_FILE`]
    if (path === undefined || path === '') continue
    try {
      return { text: readFileSync(path, 'utf8').trim(), source }
    } catch {
      details.push({ path: `${name}_FILE`, message: `the file ${path} cannot be read` })
    }
  }
  return undefined
}

/** A week, so that a mistake in the unit shows. */
const maxSeconds = 7 * 86_400
const maxWaits = 50

function parseSetting(
  text: string,
  setting: { kind: keyof Parsed; min?: number; max?: number; choices?: readonly string[] },
): Parsed[keyof Parsed] | { problem: string } {
  switch (setting.kind) {
    case 'text':
      return text
    case 'choice': {
      const { choices = [] } = setting
      return choices.includes(text) ? text : { problem: `"${text}" is none of ${choices.join(', ')}` }
    }
    case 'url':
      if (text === '' || isOrigin(text)) return text
      return { problem: `"${text}" is not an http or https address without a path (https://annex.example)` }
    case 'key':
      if (text === '' || Buffer.from(text, 'base64').length === 32) return text
      // Without the text: it is a secret, though a wrong one.
      return { problem: 'it is not 32 bytes in base64; make one with: openssl rand -base64 32' }
    case 'host':
      if (isIP(text) !== 0 || parseHostName(text) !== undefined) return text
      return {
        problem:
          `"${text}" is no address and no host name. Write for example "127.0.0.1", or "0.0.0.0" for all addresses of ` +
          'this machine, without scheme, port or path',
      }
    case 'allow': {
      const parts = toParts(text)
      const wrong = parts.find((part) => parseAllowEntry(part) === undefined)
      return wrong === undefined ? parts : { problem: describeWrongEntry(wrong) }
    }
    case 'list': {
      const parts = toParts(text)
      const { choices } = setting
      const wrong = parts.find((part) => choices !== undefined && !choices.includes(part))
      return wrong === undefined ? parts : { problem: `"${wrong}" is none of ${choices?.join(', ')}` }
    }
    case 'seconds': {
      const parts = text.split(',').map((part) => Number(part))
      const wrong = parts.findIndex((part) => !(part >= 0.001 && part <= maxSeconds))
      if (wrong === -1 && parts.length <= maxWaits) return parts
      return {
        problem: `"${text}" is not a list of up to ${maxWaits} waits of 0.001 to ${maxSeconds} seconds`,
      }
    }
    case 'flag':
      if (['true', '1', 'yes', 'on'].includes(text)) return true
      if (['false', '0', 'no', 'off'].includes(text)) return false
      return { problem: `"${text}" is neither true nor false` }
    case 'integer': {
      const value = Number(text)
      const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = setting
      if (!Number.isSafeInteger(value)) return { problem: `"${text}" is not a whole number` }
      if (value < min || value > max) return { problem: `${value} is not within ${min} to ${max}` }
      return value
    }
  }
}

const toParts = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** Scheme, host and port alone; a slash at the end does no harm. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return false
  return url.href === `${url.origin}/` && !/[?#]/.test(text)
}

function readEnvFile(path: string): Texts {
  try {
    return parse(readFileSync(path))
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return {}
    throw new AnnexError('settings_invalid', `The file ${path} cannot be read (${code}).`, { cause })
  }
}
