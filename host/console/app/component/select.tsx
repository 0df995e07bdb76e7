import { componentTexts as texts } from '../texts/component.ts'
import { currentOf, namesOf } from './controls.tsx'
import { type Element, isFields, isText, ownValue, toText } from './tree.ts'
import type { Draw } from './view.ts'

export type Option = { id: string; label: string }

export function Select({ element, view }: Draw) {
  const options = toOptions(element.options)
  return <Choices element={element} view={view} options={options} />
}

/** One value is a menu of the browser, several are boxes. */
export function Choices({ element, view, options }: Draw & { options: readonly Option[] }) {
  const value = currentOf(element, view)
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
        <option value="">{toText(element.placeholder) ?? texts.choose}</option>
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

function Boxes({ element, view, options, value }: Draw & { options: readonly Option[]; value: unknown }) {
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

/** Options of a list, without those that have no id. The first one of an id counts. */
export function toOptions(given: unknown): Option[] {
  const options = new Map<string, Option>()
  for (const one of Array.isArray(given) ? given.slice(0, maxOptions) : []) {
    if (!isFields(one)) continue
    const id = toText(ownValue(one, 'id')) ?? toText(ownValue(one, 'value'))
    if (id !== undefined && !options.has(id)) options.set(id, { id, label: toText(one.label) ?? id })
  }
  return [...options.values()]
}

export const isList = ({ options }: Element): boolean => Array.isArray(options)
