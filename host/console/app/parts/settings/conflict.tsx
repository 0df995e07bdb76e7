import { installationTexts as texts } from '../../texts/installation.ts'
import { Action } from '../action.tsx'
import { Icon } from '../icon.tsx'
import { type Setting, toText } from './settings.ts'
import type { Outcome, SettingState } from './use-setting.ts'

/** Two people have edited one setting: both values are shown, and the person chooses. Secrets are not shown. */
export function Conflict({
  setting,
  state,
  outcome: { mine, theirs },
}: {
  setting: Setting
  state: SettingState
  outcome: Extract<Outcome, { kind: 'conflict' }>
}) {
  const isSecret = setting.kind === 'secret'
  return (
    <div class="note warning" role="alert">
      <Icon name="warning" />
      <div>
        <span class="detail">{isSecret ? texts.conflict.secret : texts.conflict.changed}</span>
        {!isSecret && (
          <dl class="facts">
            <dt>{texts.conflict.yours}</dt>
            <dd dir="auto">{toText(mine.value)}</dd>
            <dt>{texts.conflict.theirs}</dt>
            <dd dir="auto">{toText(theirs.value)}</dd>
          </dl>
        )}
        <div class="row">
          <Action act={state.insist}>{texts.conflict.keepYours}</Action>
          <Action act={state.giveUp}>
            {isSecret ? texts.conflict.takeTheirsSecret : texts.conflict.takeTheirs}
          </Action>
        </div>
      </div>
    </div>
  )
}
