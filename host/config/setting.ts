/** How a setting's text becomes its value. */
export type SettingKind = 'text' | 'integer' | 'flag' | 'list' | 'choice' | 'url' | 'key' | 'seconds'

export type Setting = {
  kind: SettingKind
  default: string
  /** What it sets, and in which unit. Printed by `annex config --print` and in the README's table. */
  meaning: string
  min?: number
  max?: number
  /** Of kind `choice`: what it may be; of kind `list`: what each of its parts may be. */
  choices?: readonly string[]
  secret?: boolean
}
