import { installationTexts as texts } from '../../texts/installation.ts'
import type { ControlProps } from './control-props.ts'
import { toText } from './settings.ts'

/** One of the manifest's choices, saved at once. The first entry stands for no value here: a choice may be an empty text. */
export function Choice({ setting, state, id, described, own, below, wrong, reason }: ControlProps) {
  const { choices } = setting
  const at = own === undefined ? -1 : choices.indexOf(String(own))
  const isGone = own !== undefined && at === -1
  return (
    <select
      id={id}
      value={isGone ? 'gone' : String(at)}
      aria-describedby={described}
      aria-invalid={wrong ? 'true' : undefined}
      aria-disabled={reason === undefined ? undefined : 'true'}
      title={reason}
      onChange={(event) => {
        const { value } = event.currentTarget
        event.currentTarget.value = isGone ? 'gone' : String(at)
        if (reason === undefined && value !== 'gone') void state.save({ value: choices[Number(value)] })
      }}
    >
      <option value="-1">{below === undefined ? texts.settings.notSet : `(${toText(below)})`}</option>
      {isGone && <option value="gone">{texts.settings.noChoice(String(own))}</option>}
      {choices.map((choice, index) => (
        <option key={choice} value={String(index)}>
          {toText(choice)}
        </option>
      ))}
    </select>
  )
}
