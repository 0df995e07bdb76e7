import { useRef, useState } from 'preact/hooks'
import { ApiError } from '../../../../../schemas/client.ts'
import type { EditedLevel, ReadLevel } from '../../level.ts'
import { type Base, baseOf, type Edit, saveSetting } from './save-setting.ts'
import type { Setting } from './settings.ts'

/** What has become of the last edit of a setting. */
export type Outcome =
  | { kind: 'none' }
  | { kind: 'saving' }
  | { kind: 'saved'; edit: Edit; event: string | undefined }
  | { kind: 'conflict'; mine: Edit; theirs: Base }
  | { kind: 'failed'; error: unknown; message?: string | undefined }

/** Whether a draft of this value was saved, or given up. Another one is kept: it was typed meanwhile, or refused. */
export const isOver = (outcome: Outcome, value: unknown): boolean =>
  outcome.kind === 'none' || (outcome.kind === 'saved' && outcome.edit.value === value)

export type SettingState = {
  outcome: Outcome
  /** An edit begins with the first key that is pressed: another person's edit after that is a conflict. */
  begin: () => void
  /** Nothing is typed any more: the next key begins an edit. */
  forget: () => void
  save: (edit: Edit) => Promise<void>
  /** The person has chosen what is stored. */
  giveUp: () => void
  /** The person has chosen their own value, having seen the other one. */
  insist: () => Promise<void>
}

/** @param onSaved gets the level as it is after the edit */
export function useSetting(
  read: ReadLevel,
  { name, kind }: Setting,
  onSaved: (edited?: EditedLevel) => void,
): SettingState {
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'none' })
  const begun = useRef<Base | undefined>(undefined)
  const latest = useRef(read)
  latest.current = read
  /** Edits of one setting are saved one after the other. */
  const last = useRef(Promise.resolve())
  const enqueue = (act: () => Promise<void>): Promise<void> => {
    last.current = last.current.then(act)
    return last.current
  }
  const run = async (edit: Edit, base: Base) => {
    setOutcome({ kind: 'saving' })
    try {
      const saved = await saveSetting(latest.current, { name, isSecret: kind === 'secret', base, edit })
      if (saved.kind === 'conflict') return setOutcome({ kind: 'conflict', mine: edit, theirs: saved.theirs })
      begun.current = undefined
      latest.current = { ...latest.current, ...saved.edited }
      setOutcome({ kind: 'saved', edit, event: saved.edited.level.setupEvent })
      onSaved(saved.edited)
    } catch (error) {
      setOutcome({ kind: 'failed', error, message: messageFor(error, name) })
    }
  }
  return {
    outcome,
    begin() {
      begun.current ??= baseOf(latest.current, name)
    },
    forget() {
      begun.current = undefined
    },
    save: (edit) => enqueue(() => run(edit, begun.current ?? baseOf(latest.current, name))),
    giveUp() {
      begun.current = undefined
      setOutcome({ kind: 'none' })
    },
    async insist() {
      if (outcome.kind === 'conflict') await enqueue(() => run(outcome.mine, outcome.theirs))
    },
  }
}

/** What is wrong with this setting, without the list of all. */
function messageFor(error: unknown, name: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  return error.details.find(({ path }) => path === `/configuration/${name}`)?.message
}
