import { useState } from 'preact/hooks'
import type { SettingOption } from '../../../../../schemas/generated/api/connections.ts'
import { api } from '../../api.ts'
import { paramsOf, type ReadLevel } from '../../level.ts'
import { installationTexts as texts } from '../../texts/installation.ts'
import { useLoad } from '../../use-load.ts'
import { Action } from '../action.tsx'
import { Field } from '../field.tsx'
import { Loaded } from '../state.tsx'
import type { ControlProps } from './control-props.ts'
import { ownValue, toText } from './settings.ts'

/** A choice of those that the script answers. Annex keeps the label of the one that is chosen. */
export function ScriptChoice({ read, setting, state, id, described, own, below, reason }: ControlProps) {
  const [isOpen, setIsOpen] = useState(false)
  const { name, title } = setting
  const { labels = {}, unconfirmed = [] } = read.level
  const label = ownValue(labels, name)
  const choose = async (value: string, given?: string) => {
    setIsOpen(false)
    await state.save({ value, ...(given !== undefined && { label: given }) })
  }
  return (
    <>
      <div class="row">
        <span class="chosen" dir="auto">
          {own === undefined ? (
            <span class="muted">{below === undefined ? texts.settings.notSet : toText(below)}</span>
          ) : (
            <>
              {label !== undefined && `${label} `}
              <code>{toText(own)}</code>
            </>
          )}
        </span>
        <button
          type="button"
          id={id}
          aria-expanded={isOpen}
          aria-describedby={described}
          aria-label={texts.choices.chooseOf(title)}
          aria-disabled={reason === undefined ? undefined : 'true'}
          title={reason}
          onClick={() => reason === undefined && setIsOpen(!isOpen)}
        >
          {isOpen ? texts.choices.close : texts.choices.choose}
        </button>
      </div>
      {unconfirmed.includes(name) && <p class="muted small">{texts.choices.unconfirmed}</p>}
      {isOpen && (
        <Chooser
          read={read}
          name={name}
          chosen={own}
          choose={choose}
          canType={setting.choices.length === 0}
        />
      )}
    </>
  )
}

function Chooser({
  read,
  name,
  chosen,
  choose,
  canType,
}: {
  read: ReadLevel
  name: string
  chosen: unknown
  choose: (value: string, label?: string) => Promise<void>
  canType: boolean
}) {
  const [text, setText] = useState('')
  const [pages, setPages] = useState<{ of: string; options: SettingOption[]; next?: string | undefined }>()
  const ask = (page?: string) =>
    api.call(
      'GET /v1/integrations/{integration}/installations/{installation}/configuration/{property}/options',
      {
        params: { ...paramsOf(read), property: name },
        query: { ...(text.trim() && { q: text.trim() }), ...(page !== undefined && { page }) },
      },
    )
  const found = useLoad(`options ${name} ${text.trim()}`, () => ask())
  const further = pages?.of === text ? pages : undefined
  const next = further === undefined ? found.value?.next : further.next
  const more = async () => {
    const { options, next: after } = await ask(next)
    setPages({ of: text, options: [...(further?.options ?? []), ...options], next: after })
  }
  return (
    <div class="chooser">
      <Field
        label={texts.choices.search}
        autocomplete="off"
        value={text}
        onValue={(typed) => setText(typed.slice(0, 200))}
      />
      <Loaded of={found}>
        {({ options, stale }) => {
          const all = [...options, ...(further?.options ?? [])]
          return (
            <>
              {stale && <p class="muted small">{texts.choices.stale}</p>}
              {all.length === 0 && <p class="muted">{texts.choices.none}</p>}
              <ul class="options">
                {all.map(({ value, label }) => (
                  <li key={value}>
                    <button
                      type="button"
                      class="plain"
                      aria-pressed={value === chosen}
                      onClick={() => void choose(value, label)}
                    >
                      <span dir="auto">{label}</span> <code>{value}</code>
                    </button>
                  </li>
                ))}
              </ul>
              {next !== undefined && <Action act={more}>{texts.choices.more}</Action>}
            </>
          )
        }}
      </Loaded>
      {canType && text.trim() !== '' && (
        <button type="button" class="plain" onClick={() => void choose(text.trim())}>
          {texts.choices.typed(text.trim())}
        </button>
      )}
    </div>
  )
}
