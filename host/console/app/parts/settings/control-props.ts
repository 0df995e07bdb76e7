import type { EditedLevel, ReadLevel } from '../../level.ts'
import type { Setting } from './settings.ts'
import type { SettingState } from './use-setting.ts'

/** What each control gets. `described` names the texts below it. */
export type ControlProps = {
  read: ReadLevel
  setting: Setting
  state: SettingState
  id: string
  described: string
  /** The value of this level, and the one that applies without it. */
  own: unknown
  below: unknown
  wrong: boolean
  /** Why the person may not change it. */
  reason: string | undefined
  onSaved: (edited?: EditedLevel) => void
}
