import { useLayoutEffect, useState } from 'preact/hooks'
import { installationTexts as texts } from '../../texts/installation.ts'
import { Action } from '../action.tsx'
import { Icon } from '../icon.tsx'
import type { ControlProps } from './control-props.ts'
import { parseNumber } from './settings.ts'
import { isOver } from './use-setting.ts'

const modes = { text: 'text', number: 'decimal', address: 'url' } as const

/**
 * A text, a number or a web address. Enter saves. It takes several lines, as a key has them, by shift and Enter or by pasting. An
 * empty field has no value of its own.
 */
export function Typed({ setting, state, id, described, own, wrong, reason }: ControlProps) {
  const { kind, title } = setting
  const [draft, setDraft] = useState<string>()
  const [isNoNumber, setIsNoNumber] = useState(false)
  const stored = own === undefined ? '' : String(own)
  const shown = draft ?? stored
  const isChanged = draft !== undefined && draft !== stored
  const save = async () => {
    if (!isChanged || reason !== undefined) return
    const value = toValue(kind, draft)
    setIsNoNumber(value === null)
    if (value === null) return
    await state.save({ value })
  }
  // Before the page is painted: later it would take the next key with it.
  const { outcome } = state
  useLayoutEffect(() => {
    if (draft !== undefined && isOver(outcome, toValue(kind, draft))) setDraft(undefined)
  }, [outcome])
  return (
    <>
      <div class="row">
        <textarea
          id={id}
          class={`typed ${kind === 'text' ? '' : 'mono'}`}
          rows={Math.min(shown.split('\n').length, 12)}
          value={shown}
          dir="auto"
          spellcheck={false}
          autocomplete="off"
          inputMode={modes[kind as keyof typeof modes]}
          readOnly={reason !== undefined}
          title={reason}
          aria-describedby={described}
          aria-invalid={wrong || isNoNumber ? 'true' : undefined}
          onInput={(event) => {
            state.begin()
            setIsNoNumber(false)
            const { value } = event.currentTarget
            // What was refused is gone: there is nothing to save.
            if (value === stored) return state.giveUp()
            setDraft(value)
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape' && isChanged) state.giveUp()
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            void save()
          }}
        />
        {isChanged && (
          <>
            <Action kind="main" act={save}>
              {texts.settings.save}
              <span class="visually-hidden">{title}</span>
            </Action>
            <Action
              kind="plain"
              act={() => {
                setIsNoNumber(false)
                state.giveUp()
              }}
            >
              {texts.settings.discard}
            </Action>
          </>
        )}
      </div>
      {isNoNumber && (
        <p class="wrong" role="alert">
          <Icon name="warning" />
          <span>{texts.settings.numberWrong}</span>
        </p>
      )}
    </>
  )
}

/** @returns undefined for no value, null for a text that is no number */
function toValue(kind: string, draft: string): string | number | undefined | null {
  if (kind === 'number') return draft.trim() === '' ? undefined : (parseNumber(draft) ?? null)
  const text = kind === 'address' ? draft.trim() : draft
  return text === '' ? undefined : text
}
