import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Chip } from '../../parts/chip.tsx'
import { Icon } from '../../parts/icon.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { texts } from '../../texts.ts'
import { type Choices, listsOf, type PlaceList, type toQuery } from './choices.ts'
import { describeWhere } from './describe.ts'
import { type Found, findMissing, isAll } from './plan.ts'

const words = texts.install
/** A longer list can be searched. */
const longList = 10

/** Chooses places: some, all, or none of the organization. */
export function WhereStep({
  found,
  choices,
  addressOf,
}: {
  found: Found
  choices: Choices
  addressOf: (given: Parameters<typeof toQuery>[1]) => string
}) {
  const { route } = useLocation()
  const missing = findMissing(found.places, choices)
  const lists = listsOf(found.integration.page?.target)
  return (
    <>
      {missing.length > 0 && (
        <div class="note warning wide">
          <Icon name="warning" />
          <div>{words.gone(missing.join(', '))}</div>
        </div>
      )}
      {lists.length === 0 && <p class="muted">{words.noPlaces(found.organization.title)}</p>}
      {lists.map((list) => (
        <PlaceChoice
          key={list}
          list={list}
          found={found}
          choices={choices}
          onChange={(given) => route(addressOf(given), true)}
        />
      ))}
      <p class="muted" role="status">
        {words.chosen(describeWhere(found, choices))}
      </p>
      <a class="button main" href={addressOf({ step: 'agree' })}>
        {words.toAgree}
      </a>
    </>
  )
}

function PlaceChoice({
  list,
  found: { own, places, installed },
  choices,
  onChange,
}: {
  list: PlaceList
  found: Found
  choices: Choices
  onChange: (given: Partial<Choices>) => void
}) {
  const [text, setText] = useState('')
  const known = places[list]
  const hasAll = choices.all.includes(list) || isAll(own, list)
  const shown = known.filter(({ title, slug }) =>
    `${title} ${slug}`.toLowerCase().includes(text.toLowerCase()),
  )
  const toggle = (names: readonly string[], name: string) =>
    names.includes(name) ? names.filter((one) => one !== name) : [...names, name]
  return (
    <fieldset class="places">
      <legend>{words[list]}</legend>
      <label class="check">
        <input
          type="checkbox"
          checked={hasAll}
          disabled={isAll(own, list)}
          onChange={() =>
            onChange({
              all: choices.all.includes(list)
                ? choices.all.filter((one) => one !== list)
                : [...choices.all, list],
            })
          }
        />
        <span>{words.all[list]}</span>
      </label>
      {known.length === 0 && <p class="muted small">{words.none[list]}</p>}
      {known.length > longList && <SearchField label={words.narrow[list]} value={text} onValue={setText} />}
      {known.length > 0 && shown.length === 0 && <p class="muted small">{words.noMatch}</p>}
      <ul>
        {shown.map(({ id, slug, title }) => {
          const isThere = installed[list].has(id)
          return (
            <li key={id}>
              <label class="check">
                <input
                  type="checkbox"
                  checked={isThere || hasAll || choices[list].includes(slug)}
                  disabled={isThere || hasAll}
                  onChange={() => onChange({ [list]: toggle(choices[list], slug) })}
                />
                <span dir="auto">{title}</span>
                <code class="muted small">{slug}</code>
                {isThere && <Chip state="installed" />}
              </label>
            </li>
          )
        })}
      </ul>
    </fieldset>
  )
}
