import { useId } from 'preact/hooks'
import type { EditedLevel, ReadLevel } from '../../level.ts'
import { installationTexts as texts } from '../../texts/installation.ts'
import { Action } from '../action.tsx'
import { ErrorNote } from '../error-note.tsx'
import { Icon } from '../icon.tsx'
import { Choice } from './choice.tsx'
import { Conflict } from './conflict.tsx'
import { ConnectButton } from './connect-button.tsx'
import { ScriptChoice } from './script-choice.tsx'
import { Secret } from './secret.tsx'
import { ownValue, problemOf, type Setting, toText } from './settings.ts'
import { SetupOutcome } from './setup-outcome.tsx'
import { Toggle } from './toggle.tsx'
import { Typed } from './typed.tsx'
import { useSetting } from './use-setting.ts'

const controls = {
  text: Typed,
  number: Typed,
  address: Typed,
  toggle: Toggle,
  choice: Choice,
  'script-choice': ScriptChoice,
  secret: Secret,
  button: ConnectButton,
} as const

/** One setting: its control, where its value comes from, what is wrong with it, and what the script did with the last edit. */
export function SettingRow({
  read,
  setting,
  reason,
  onSaved,
}: {
  read: ReadLevel
  setting: Setting
  reason: string | undefined
  onSaved: (edited?: EditedLevel) => void
}) {
  const id = useId()
  const { name, title, description, kind, isRequired } = setting
  const { level, form } = read
  const state = useSetting(read, setting, onSaved)
  const { outcome } = state
  const own = ownValue(level.configuration, name)
  const inherited = ownValue(form.inherited, name)
  const below = inherited ?? setting.default
  const problem = problemOf(level.problems, name)
  const failure = outcome.kind === 'failed' ? outcome.message : undefined
  const wrong = failure ?? problem
  const described = [description && `${id}-what`, `${id}-from`, wrong && `${id}-wrong`]
    .filter(Boolean)
    .join(' ')
  const Control = controls[kind]
  const canClear = own !== undefined && kind !== 'secret' && kind !== 'button' && kind !== 'choice'
  return (
    <div class="setting" id={`setting-${name}`}>
      <div class="setting-head">
        <label for={id} id={`${id}-label`} dir="auto">
          {title}
        </label>
        {isRequired && own === undefined && below === undefined && (
          <span class="chip">{texts.settings.required}</span>
        )}
        {canClear && (
          <Action kind="plain" act={() => state.save({ value: undefined })} reason={reason}>
            {texts.settings.clear}
            <span class="visually-hidden">{title}</span>
          </Action>
        )}
      </div>
      {description && (
        <p class="muted small" id={`${id}-what`} dir="auto">
          {description}
        </p>
      )}
      <Control
        {...{ read, setting, state, id, described, own, below, reason, onSaved }}
        wrong={failure !== undefined || (problem !== undefined && own !== undefined)}
      />
      <p class="muted small" id={`${id}-from`} dir="auto">
        {kind !== 'button' && whereFrom(setting, own, inherited)}
      </p>
      {wrong && (
        <p class={failure === undefined && own === undefined ? 'waiting-for' : 'wrong'} id={`${id}-wrong`}>
          <Icon name={failure === undefined && own === undefined ? 'clock' : 'warning'} />
          <span>
            {title} {wrong}.
          </span>
        </p>
      )}
      <div aria-live="polite">
        {outcome.kind === 'failed' && failure === undefined && <ErrorNote error={outcome.error} />}
        {outcome.kind === 'conflict' && <Conflict {...{ setting, state, outcome }} />}
        {outcome.kind === 'saved' && <SetupOutcome key={outcome.event} read={read} event={outcome.event} />}
      </div>
    </div>
  )
}

/** What applies where this level has no value, and what it replaces where it has one. */
function whereFrom({ kind, default: value }: Setting, own: unknown, inherited: unknown): string | undefined {
  if (kind === 'secret')
    return own === undefined && inherited !== undefined ? texts.settings.secretOfAccount : undefined
  if (inherited !== undefined) {
    return own === undefined
      ? texts.settings.fromAccount(toText(inherited))
      : texts.settings.overridesAccount(toText(inherited))
  }
  return own === undefined && value !== undefined ? texts.settings.fromDefault(toText(value)) : undefined
}
