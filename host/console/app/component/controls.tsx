import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { ControlButton } from './control-button.tsx'
import { type Element, isText, ownValue, toText } from './tree.ts'
import type { Draw, View } from './view.ts'

export const Button = ({ element, view }: Draw) => (
  <div class="c-button">
    <ControlButton given={element} view={view} />
  </div>
)

/** A label and a hint around a field. */
export function Input({ element, view }: Draw) {
  const id = useId()
  const { label, hint, element: field } = element
  const names = { label: `${id}-label`, hint: hint === undefined ? undefined : `${id}-hint` }
  return (
    <div class="c-input">
      <span class="c-label" id={names.label} dir="auto">
        {toText(label)}
      </span>
      {view.draw(field, names)}
      {hint !== undefined && (
        <div class="muted small" id={names.hint} dir="auto">
          {view.draw(hint)}
        </div>
      )}
    </div>
  )
}

/** The label of a field that stands alone, above it. */
export function Labelled({
  element,
  view,
  children,
}: Draw & { children: (view: View) => ComponentChildren }) {
  const id = useId()
  const label = toText(element.label)
  if (label === undefined || view.field !== undefined) return <>{children(view)}</>
  return (
    <div class="c-input">
      <span class="c-label" id={id} dir="auto">
        {label}
      </span>
      {children({ ...view, field: { label: id } })}
    </div>
  )
}

/** The attributes that name a field: the label around it, or the name of its state. */
export const namesOf = ({ state, placeholder }: Element, { field }: View) =>
  field === undefined
    ? { 'aria-label': toText(placeholder) ?? toText(state) }
    : { 'aria-labelledby': field.label, 'aria-describedby': field.hint }

/** The value of the state that a field edits. */
export const currentOf = ({ state }: Element, view: View): unknown =>
  isText(state) ? ownValue(view.state, state) : undefined

const inputTypes: Readonly<Record<string, 'text' | 'password' | 'email'>> = {
  text: 'text',
  password: 'password',
  email: 'email',
}

export const TextInput = ({ element, view }: Draw) => (
  <Labelled element={element} view={view}>
    {(labelled) => <TextField element={element} view={labelled} />}
  </Labelled>
)

function TextField({ element, view }: Draw) {
  const { placeholder, multiline, inputType, disabled, onValueChange } = element
  const value = currentOf(element, view)
  const common = {
    ...namesOf(element, view),
    class: 'c-field',
    value: typeof value === 'string' || typeof value === 'number' ? String(value) : '',
    placeholder: toText(placeholder) ?? '',
    disabled: disabled === true,
    dir: 'auto' as const,
    onInput: (event: { currentTarget: { value: string } }) => {
      view.type(element, event.currentTarget.value, onValueChange)
    },
    onChange: view.flush,
  }
  if (multiline === true) return <textarea rows={4} {...common} />
  const type = isText(inputType) && Object.hasOwn(inputTypes, inputType) ? inputTypes[inputType] : 'text'
  // A password store fills in what belongs to Annex, not to a script.
  return (
    <input type={type as 'text'} autocomplete={type === 'password' ? 'new-password' : 'off'} {...common} />
  )
}

export const Switch = ({ element, view }: Draw) => (
  <Check
    element={element}
    view={view}
    role="switch"
    checked={currentOf(element, view) === true}
    valueFor={(checked) => checked}
  />
)

/** Several boxes of one state are a list of their values. A box alone is true or false. */
export function Checkbox({ element, view }: Draw) {
  const value = currentOf(element, view)
  const own = element.value
  if (!Array.isArray(value)) {
    const checked = value === true || (own !== undefined && value === own)
    return <Check element={element} view={view} checked={checked} valueFor={(now) => now} />
  }
  return (
    <Check
      element={element}
      view={view}
      checked={value.includes(own)}
      valueFor={(now) => (now ? [...value, own] : value.filter((one) => one !== own))}
    />
  )
}

export function Radio({ element, view }: Draw) {
  const { state, value } = element
  return (
    <Check
      element={element}
      view={view}
      type="radio"
      name={`${view.id}-${toText(state)}`}
      checked={value !== undefined && currentOf(element, view) === value}
      valueFor={() => value}
    />
  )
}

function Check({
  element,
  view,
  type = 'checkbox',
  role,
  name,
  checked,
  valueFor,
}: Draw & {
  type?: 'checkbox' | 'radio'
  role?: 'switch'
  name?: string
  checked: boolean
  valueFor: (checked: boolean) => unknown
}) {
  const id = useId()
  const label = toText(element.label)
  const input = (
    <input
      // The types of Preact have a form for each type of an input.
      type={type as 'checkbox'}
      role={role}
      class={role === 'switch' ? 'switch-control' : ''}
      id={id}
      name={name}
      checked={checked}
      disabled={element.disabled === true}
      {...(label === undefined || view.field !== undefined ? namesOf(element, view) : {})}
      onClick={(event) => {
        const wanted = event.currentTarget.checked
        // The state decides what is checked: a question may come first.
        event.currentTarget.checked = checked
        if (wanted === checked) return
        view.choose(element, valueFor(wanted))
      }}
    />
  )
  if (label === undefined) return <div class="c-check">{input}</div>
  return (
    <div class="c-check">
      {input}
      <label for={id} dir="auto">
        {label}
      </label>
    </div>
  )
}
