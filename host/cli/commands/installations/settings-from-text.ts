import type { SettingSchema } from '../../../manifest/settings/settings-schema.ts'
import { UsageError } from '../../usage-error.ts'

/** Collects a repeated option. */
export const collect = (value: string, before: string[] = []): string[] => [...before, value]

/**
 * Settings from `--set name=value`. Each value becomes what the manifest declares for its name: a number, true or
 * false, else text. What cannot be converted, or is not declared, goes as it is: the server's answer names all
 * wrong settings at once.
 *
 * @throws UsageError for a pair without a name or `=`, and for a number that would be rounded
 */
export function toSettings(
  pairs: string[],
  declared: Record<string, SettingSchema> | undefined,
): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, text = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
      if (name === undefined) throw new UsageError(`--set takes name=value, not "${pair}".`)
      const type = declared !== undefined && Object.hasOwn(declared, name) ? declared[name]?.type : undefined
      return [name, convert(name, text, type)]
    }),
  )
}

function convert(name: string, text: string, type: SettingSchema['type']): unknown {
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (type !== 'number' || text.trim() === '') return text
  const value = Number(text)
  if (Number.isFinite(value) && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    throw new UsageError(`--set ${name}: ${text} is beyond ${Number.MAX_SAFE_INTEGER} and would be rounded.`)
  }
  return Number.isFinite(value) ? value : text
}
