import type { EditedLevel, ReadLevel } from '../../level.ts'

/** What each tab gets. `title` names the integration, `place` the site or space. */
export type TabProps = {
  read: ReadLevel
  title: string
  place: string | undefined
  onSaved: (edited?: EditedLevel) => void
}
