import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { paramsOf, toEdited } from '../../level.ts'
import { Action } from '../../parts/action.tsx'
import { useAttempt } from '../../parts/attempt.ts'
import { Cancel } from '../../parts/cancel.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { SettingRow } from '../../parts/settings/setting-row.tsx'
import { componentOf, toSettings } from '../../parts/settings/settings.ts'
import { SettingsComponent } from '../../parts/settings/settings-component.tsx'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { installationTexts as texts } from '../../texts/installation.ts'
import { CopySettings } from './copy-settings.tsx'
import { Now } from './now.tsx'
import { Places } from './places.tsx'
import { SigningSecret } from './signing-secret.tsx'
import type { TabProps } from './tab-props.ts'

/** Left the settings, each saved by itself. Right what happens now. */
export function SettingsTab({ read, title, place, onSaved }: TabProps) {
  const { form } = read
  const reason = reasonAgainst('putInstallationSetting')
  const settings = toSettings(form.schema)
  const component = componentOf(form.schema)
  return (
    <div class="two-columns">
      <div class="column">
        {component !== undefined && <SettingsComponent read={read} name={component} onSaved={onSaved} />}
        {settings.length === 0 && component === undefined && (
          <p class="muted">
            {texts.settings.none} {place === undefined && texts.settings.elsewhere}
          </p>
        )}
        {settings.length > 0 && (
          <div class="settings">
            {settings.map((setting) => (
              <SettingRow key={setting.name} {...{ read, setting, reason, onSaved }} />
            ))}
          </div>
        )}
        {form.stored.length > 0 && <Stored read={read} onSaved={onSaved} />}
        {place === undefined && <Places read={read} />}
        {place !== undefined && settings.length > 0 && <CopySettings read={read} onSaved={onSaved} />}
      </div>
      <aside class="column">
        <Now read={read} />
        <SigningSecret read={read} title={title} onSaved={onSaved} />
      </aside>
    </div>
  )
}

/** Values that are no settings, by name. A person can clear them. */
function Stored({ read, onSaved }: Pick<TabProps, 'read' | 'onSaved'>) {
  const [asked, setAsked] = useState<string>()
  const { error, attempt } = useAttempt()
  const clear = (property: string) =>
    attempt(async () => {
      setAsked(undefined)
      const edited = await api.read(
        'DELETE /v1/integrations/{integration}/installations/{installation}/configuration/{property}',
        { params: { ...paramsOf(read), property }, headers: { 'if-match': '*' } },
      )
      sayDone(texts.stored.cleared(property))
      onSaved(toEdited(edited))
    })
  return (
    <section>
      <h2>{texts.stored.title}</h2>
      <p class="muted">{texts.stored.what}</p>
      <ul class="card">
        {read.form.stored.map((name) => (
          <li key={name} class="row apart">
            <code>{name}</code>
            <Action
              kind="plain"
              act={() => setAsked(name)}
              reason={reasonAgainst('deleteInstallationSetting')}
            >
              {texts.settings.clear}
              <span class="visually-hidden">{name}</span>
            </Action>
          </li>
        ))}
      </ul>
      {error !== undefined && <ErrorNote error={error} />}
      {asked !== undefined && (
        <Dialog title={texts.stored.confirm(asked)} onClose={() => setAsked(undefined)}>
          <p>{texts.stored.warning}</p>
          <div class="row">
            <Action kind="bad" act={() => clear(asked)}>
              {texts.stored.clear(asked)}
            </Action>
            <Cancel act={() => setAsked(undefined)} />
          </div>
        </Dialog>
      )}
    </section>
  )
}
