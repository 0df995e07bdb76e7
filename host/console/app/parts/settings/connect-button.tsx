import { pathOf } from '../../level-address.ts'
import { installationTexts as texts } from '../../texts/installation.ts'
import { ConnectActions, ConnectionChip, ConnectionTarget } from './connection.tsx'
import type { ControlProps } from './control-props.ts'

/** A button of the settings. Its tab tells all of the connection. */
export function ConnectButton({ read, setting, id, described, onSaved }: ControlProps) {
  const { name, buttonText } = setting
  const connection = read.level.connections?.[name] ?? { state: 'none' as const }
  const { state, account } = connection
  return (
    <div class="stack">
      {/* biome-ignore lint/a11y/useSemanticElements: the label of the row names the group */}
      <div class="row" id={id} role="group" aria-labelledby={`${id}-label`} aria-describedby={described}>
        <ConnectionChip state={state} />
        {account !== undefined && <bdi>{account}</bdi>}
        {state !== 'none' && (
          <a class="small" href={pathOf(read.name, 'connection')}>
            {texts.connection.toConnection}
          </a>
        )}
      </div>
      <ConnectActions
        {...{ read, name, connection, onSaved }}
        buttonText={buttonText ?? texts.connection.connect}
      />
      {state === 'none' && <ConnectionTarget read={read} name={name} />}
    </div>
  )
}
