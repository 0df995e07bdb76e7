import { useId } from 'preact/hooks'
import type { SettingOptions } from '../../../../schemas/generated/api/connections.ts'
import { api } from '../api.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { componentTexts as texts } from '../texts/component.ts'
import { texts as general } from '../texts.ts'
import { useKept, useLoad } from '../use-load.ts'
import { toUrl } from './bindings.ts'
import { currentOf, Labelled, namesOf } from './controls.tsx'
import type { ComponentLevel } from './render.ts'
import { isFields, isText, ownValue, toText } from './tree.ts'
import type { Draw } from './view.ts'

type Option = { id: string; label: string }
type Chosen = Draw & { options: readonly Option[] }

/** A choice of options that the tree has, or that the script answers. */
export const Select = ({ element, view }: Draw) => (
  <Labelled element={element} view={view}>
    {(labelled) =>
      Array.isArray(element.options) ? (
        <Choices element={element} view={labelled} options={toOptions(element.options)} />
      ) : (
        <ScriptOptions element={element} view={labelled} />
      )
    }
  </Labelled>
)

/** The host asks the script: it refuses an address of another host. */
function ScriptOptions({ element, view }: Draw) {
  const given = isFields(element.options) ? element.options : {}
  const source = toText(given.source) ?? toUrl(given.url, view.state)?.href
  const load = useKept(
    useLoad(`options ${JSON.stringify(view.of)} ${source}`, async (signal) =>
      source === undefined ? [] : askOptions(view, source, signal),
    ),
  )
  const { value, error, reload } = load
  return (
    <>
      <Choices
        {...{ element, view }}
        options={value ?? []}
        isLoading={load.isLoading && value === undefined}
      />
      {error !== undefined && (
        <ErrorNote error={error} what={texts.choicesFailed} next={{ label: general.tryAgain, act: reload }} />
      )}
    </>
  )
}

async function askOptions({ of }: Draw['view'], source: string, signal: AbortSignal): Promise<Option[]> {
  const found: Option[] = []
  let page: string | undefined
  for (let pages = 0; pages < maxPages; pages += 1) {
    const body = { source, ...(page !== undefined && { page }) }
    const { options, next } = await askPage(of, { body, signal })
    found.push(...options.map(({ value, label }) => ({ id: value, label })))
    if (next === undefined || found.length >= maxOptions) break
    page = next
  }
  return toOptions(found)
}

/** A reader asks by the stored block. */
async function askPage(
  { integration, installation, level, ofPage }: ComponentLevel,
  given: { body: { source: string; page?: string }; signal: AbortSignal },
): Promise<SettingOptions> {
  if (ofPage !== undefined) {
    const { org, space, page, line } = ofPage
    const params = { space, page, line: String(line) }
    return api.call('POST /v1/spaces/{space}/content/page/{page}/blocks/{line}/options', {
      ...{ params, query: { organization: org } },
      ...given,
    })
  }
  return api.call('POST /v1/integrations/{integration}/installations/{installation}/component-options', {
    params: { integration, installation, ...level },
    ...given,
  })
}

/** One value is a menu of the browser, several are boxes. */
function Choices({ element, view, options, isLoading }: Chosen & { isLoading?: boolean }) {
  const value = currentOf(element, view)
  if (element.acceptInput === true) return <Typed {...{ element, view, options, value }} />
  if (element.multiple === true) return <Boxes {...{ element, view, options, value }} />
  const known = options.some(({ id }) => id === value)
  return (
    <select
      {...namesOf(element, view)}
      class="c-field"
      disabled={element.disabled === true}
      value={isText(value) ? value : ''}
      onChange={(event) => {
        const chosen = event.currentTarget.value
        event.currentTarget.value = isText(value) ? value : ''
        view.choose(element, chosen)
      }}
    >
      {(!isText(value) || value === '') && (
        <option value="">
          {isLoading ? general.loading : (toText(element.placeholder) ?? texts.choose)}
        </option>
      )}
      {isText(value) && value !== '' && !known && <option value={value}>{value}</option>}
      {options.map(({ id, label }) => (
        <option key={id} value={id}>
          {label}
        </option>
      ))}
    </select>
  )
}

/** Any text, with the options as proposals. Several are texts in lines. */
function Typed({ element, view, options, value }: Chosen & { value: unknown }) {
  const id = useId()
  const common = {
    ...namesOf(element, view),
    class: 'c-field',
    disabled: element.disabled === true,
    dir: 'auto' as const,
    placeholder: toText(element.placeholder) ?? '',
  }
  if (element.multiple === true) {
    return (
      <textarea
        {...common}
        rows={4}
        value={(Array.isArray(value) ? value.filter(isText) : []).join('\n')}
        onChange={(event) => {
          const lines = event.currentTarget.value.split('\n').map((line) => line.trim())
          view.choose(element, [...new Set(lines.filter((line) => line !== ''))])
        }}
      />
    )
  }
  return (
    <>
      <input
        {...common}
        list={id}
        value={isText(value) ? value : ''}
        onChange={(event) => view.choose(element, event.currentTarget.value)}
      />
      <datalist id={id}>
        {options.map((option) => (
          <option key={option.id} value={option.id}>
            {option.label}
          </option>
        ))}
      </datalist>
    </>
  )
}

function Boxes({ element, view, options, value }: Chosen & { value: unknown }) {
  const chosen = Array.isArray(value) ? value.filter(isText) : []
  const all = [
    ...options,
    ...chosen.filter((id) => !options.some((one) => one.id === id)).map((id) => ({ id, label: id })),
  ]
  const name = namesOf(element, view)
  return (
    <fieldset class="c-boxes" {...name} disabled={element.disabled === true}>
      {all.length === 0 && <span class="muted">{texts.noChoices}</span>}
      {all.map(({ id, label }) => (
        <label key={id} class="c-check">
          <input
            type="checkbox"
            checked={chosen.includes(id)}
            onChange={(event) =>
              view.choose(
                element,
                event.currentTarget.checked ? [...chosen, id] : chosen.filter((one) => one !== id),
              )
            }
          />
          <span dir="auto">{label}</span>
        </label>
      ))}
    </fieldset>
  )
}

const maxOptions = 1_000
const maxPages = 10

/** Options of a list, without those that have no id. The first one of an id counts. */
function toOptions(given: unknown): Option[] {
  const options = new Map<string, Option>()
  for (const one of Array.isArray(given) ? given.slice(0, maxOptions) : []) {
    if (!isFields(one)) continue
    const id = toText(ownValue(one, 'id')) ?? toText(ownValue(one, 'value'))
    if (id !== undefined && !options.has(id)) options.set(id, { id, label: toText(one.label) ?? id })
  }
  return [...options.values()]
}
