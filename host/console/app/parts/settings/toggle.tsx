import { installationTexts as texts } from '../../texts/installation.ts'
import { Action } from '../action.tsx'
import type { ControlProps } from './control-props.ts'

/** On or off, saved at once. One that nothing has set yet is off, and may still be required. */
export function Toggle({ state, id, described, own, below, reason }: ControlProps) {
  const { outcome } = state
  const sent = outcome.kind === 'saving' || outcome.kind === 'conflict' ? undefined : own
  const isOn = (sent ?? own ?? below) === true
  const isUnset = own === undefined && below === undefined
  return (
    <div class="row">
      <input
        type="checkbox"
        role="switch"
        class="switch-control"
        id={id}
        checked={isOn}
        aria-checked={isOn}
        aria-describedby={described}
        aria-disabled={reason === undefined ? undefined : 'true'}
        title={reason}
        onClick={(event) => {
          // Shown as it is stored: the answer of the host turns it.
          event.preventDefault()
          if (reason === undefined && outcome.kind !== 'saving') void state.save({ value: !isOn })
        }}
      />
      <span aria-hidden="true">
        {isUnset ? texts.settings.notSet : isOn ? texts.settings.on : texts.settings.off}
      </span>
      {isUnset && (
        <Action kind="plain" act={() => state.save({ value: false })} reason={reason}>
          {texts.settings.setOff}
        </Action>
      )}
    </div>
  )
}
