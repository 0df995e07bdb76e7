import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { paramsOf, type ReadLevel, readLevel } from '../../level.ts'
import { Action } from '../../parts/action.tsx'
import { Cancel } from '../../parts/cancel.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Choice } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { ownValue, type Setting, toSettings, toText } from '../../parts/settings/settings.ts'
import { Loaded } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { installationTexts } from '../../texts/installation.ts'
import { useLoad } from '../../use-load.ts'
import { readPlaces } from './places.tsx'
import type { TabProps } from './tab-props.ts'

const texts = installationTexts.copy

/** Copies the settings of another site or space of the same kind. Shown when there is one. */
export function CopySettings({ read, onSaved }: Pick<TabProps, 'read' | 'onSaved'>) {
  const [from, setFrom] = useState<string>()
  const { place, installation } = read.name
  const { value: others = [] } = useLoad(`others ${installation} ${place?.id}`, async (signal) => {
    const all = await readPlaces(read, signal)
    return all.filter(({ kind, id }) => kind === place?.kind && id !== place.id)
  })
  const [first] = others
  if (first === undefined) return null
  return (
    <section>
      <h2>{texts.title}</h2>
      <div>
        <Action act={() => setFrom(first.id)} reason={reasonAgainst('updateIntegrationSiteInstallation')}>
          {texts.action}
        </Action>
      </div>
      {from !== undefined && (
        <Dialog title={texts.action} onClose={() => setFrom(undefined)}>
          <Choice
            label={texts.from}
            value={from}
            options={others.map(({ id, title }) => ({ value: id, label: title }))}
            onValue={setFrom}
          />
          <Copy
            read={read}
            from={from}
            onEnd={(changed) => {
              setFrom(undefined)
              if (changed === undefined) return
              sayDone(texts.done(changed))
              onSaved()
            }}
          />
        </Dialog>
      )}
    </section>
  )
}

function Copy({
  read,
  from,
  onEnd,
}: {
  read: ReadLevel
  from: string
  onEnd: (changed: number | undefined) => void
}) {
  const kind = read.name.place?.kind ?? 'site'
  const other = useLoad(`copy ${from}`, (signal) =>
    readLevel({ ...read.name, place: { kind, id: from } }, signal),
  )
  return (
    <>
      <Loaded of={other}>
        {(source) => {
          const rows = differing(read, source)
          const copy = async () => {
            const values = rows.map(({ name }) => [name, ownValue(source.level.configuration, name)] as const)
            const { configuration } = read.level
            const all = { ...configuration, ...Object.fromEntries(values) }
            await api.call('PATCH /v1/integrations/{integration}/installations/{installation}', {
              params: paramsOf(read),
              headers: { 'if-match': read.etag },
              body: { configuration: all },
            })
            onEnd(rows.length)
          }
          return rows.length === 0 ? (
            <p class="muted">{texts.nothing}</p>
          ) : (
            <Form submit={copy} label={texts.submit(rows.length)}>
              <p class="muted">{texts.what}</p>
              <Table
                label={texts.title}
                rows={rows}
                keyOf={({ name }) => name}
                columns={[
                  { title: texts.columns.name, cell: ({ title }) => <bdi>{title}</bdi> },
                  {
                    title: texts.columns.here,
                    cell: ({ name }) => <bdi>{toText(ownValue(read.level.configuration, name))}</bdi>,
                  },
                  {
                    title: texts.columns.there,
                    cell: ({ name }) => <bdi>{toText(ownValue(source.level.configuration, name))}</bdi>,
                  },
                ]}
              />
            </Form>
          )
        }}
      </Loaded>
      <div>
        <Cancel act={() => onEnd(undefined)} />
      </div>
    </>
  )
}

/** Settings with another value there. A secret is a mask in both, and credentials belong to one place. */
const differing = (here: ReadLevel, there: ReadLevel): Setting[] =>
  toSettings(here.form.schema).filter(({ name, kind }) => {
    const value = ownValue(there.level.configuration, name)
    if (kind === 'secret' || kind === 'button' || value === undefined || value === '[secret]') return false
    return value !== ownValue(here.level.configuration, name)
  })
