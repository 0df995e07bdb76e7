import { readFileSync } from 'node:fs'
import { parse } from 'dotenv'
import { AnnexError, type ErrorDetail } from '../errors.ts'
import { checkOpenidSettings } from './openid-settings.ts'
import { parseSetting, type SettingValues } from './setting.ts'
import { type SettingName, settingsTable } from './settings-table.ts'

export type Settings = { readonly [N in SettingName]: SettingValues[(typeof settingsTable)[N]['kind']] }

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
  const values: Record<string, SettingValues[keyof SettingValues]> = {}
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
  details.push(...checkOpenidSettings(values))
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

function readEnvFile(path: string): Texts {
  try {
    return parse(readFileSync(path))
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return {}
    throw new AnnexError('settings_invalid', `The file ${path} cannot be read (${code}).`, { cause })
  }
}
