/** How a setting's text becomes its value. */
export type SettingKind =
  | 'text'
  | 'integer'
  | 'flag'
  | 'list'
  | 'choice'
  | 'url'
  | 'key'
  | 'seconds'
  | 'host'
  | 'allow'

/** A day. Timers count to 24 of them, and with one ms more they fire at once. */
export const longestMs = 86_400_000

export type Setting = {
  kind: SettingKind
  default: string
  /** What it sets, and in which unit. */
  meaning: string
  min?: number
  max?: number
  /** Of kind `choice`: what it may be; of kind `list`: what each of its parts may be. */
  choices?: readonly string[]
  secret?: boolean
}

/** What it sets, and what it may be where that is a range: for `annex config --print` and docs/settings.md. */
export function describeSetting({ meaning, min, max }: Setting): string {
  if (max !== undefined) return `${meaning} (${min} to ${max})`
  // That it may not be negative goes without saying.
  return min === undefined || min === 0 ? meaning : `${meaning} (at least ${min})`
}
