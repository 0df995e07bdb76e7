import { useLayoutEffect, useState } from 'preact/hooks'
import { installationTexts as texts } from '../../texts/installation.ts'
import { Action } from '../action.tsx'
import { Icon } from '../icon.tsx'
import type { ControlProps } from './control-props.ts'
import { isOver } from './use-setting.ts'

/** In a person's edit it stands for the stored value: nothing would be saved. */
const mask = '[secret]'

/** A value that is set, replaced and cleared, and never shown. A private key has several lines. */
export function Secret({ setting, state, id, described, own, wrong, reason }: ControlProps) {
  const { title } = setting
  const isSet = own !== undefined && own !== ''
  const [isReplacing, setIsReplacing] = useState(false)
  const [draft, setDraft] = useState('')
  const [isShown, setIsShown] = useState(false)
  const { outcome } = state
  // Before the page is painted: later it would take the next key with it.
  useLayoutEffect(() => {
    if (!isOver(outcome, draft)) return
    setDraft('')
    setIsReplacing(false)
    setIsShown(false)
  }, [outcome])
  const isMask = draft.trim() === mask
  const save = async () => {
    if (draft !== '' && !isMask) await state.save({ value: draft })
  }
  if (!isReplacing && (isSet || reason !== undefined)) {
    return (
      <div class="row">
        <span class="chosen">
          <Icon name="key" /> {isSet ? texts.secret.set : texts.secret.notSet}
        </span>
        <button
          type="button"
          id={id}
          aria-describedby={described}
          aria-label={texts.secret.replaceOf(title)}
          aria-disabled={reason === undefined ? undefined : 'true'}
          title={reason}
          onClick={() => {
            if (reason === undefined) setIsReplacing(true)
          }}
        >
          {isSet ? texts.secret.replace : texts.secret.setIt}
        </button>
        {isSet && (
          <Action kind="plain" act={() => state.save({ value: undefined })} reason={reason}>
            {texts.settings.clear}
            <span class="visually-hidden">{title}</span>
          </Action>
        )}
      </div>
    )
  }
  return (
    <>
      <div class="row">
        <textarea
          id={id}
          class={`typed mono ${isShown ? '' : 'hidden-text'}`}
          rows={Math.min(draft.split('\n').length, 12)}
          value={draft}
          spellcheck={false}
          autocomplete="off"
          aria-describedby={described}
          aria-invalid={wrong || isMask ? 'true' : undefined}
          onInput={(event) => {
            const { value } = event.currentTarget
            if (value === '') state.forget()
            else state.begin()
            setDraft(value)
            // Once a first secret is saved, the next one that is typed by then keeps its field.
            setIsReplacing(true)
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            void save()
          }}
        />
        {draft !== '' && (
          <Action kind="main" act={save}>
            {texts.settings.save}
            <span class="visually-hidden">{title}</span>
          </Action>
        )}
        {isReplacing && (
          <Action kind="plain" act={state.giveUp}>
            {texts.settings.discard}
          </Action>
        )}
      </div>
      <label class="row small">
        <input type="checkbox" checked={isShown} onChange={() => setIsShown(!isShown)} />
        {texts.secret.show}
      </label>
      {isMask && (
        <p class="wrong" role="alert">
          <Icon name="warning" />
          <span>{texts.secret.mask}</span>
        </p>
      )}
    </>
  )
}
