import { useId } from 'preact/hooks'

/** A filter by a whole text, with suggestions. It is told when the person has typed it. */
export function TextFilter({
  label,
  placeholder = label,
  suggestions = [],
  value,
  onValue,
}: {
  label: string
  placeholder?: string
  suggestions?: readonly string[]
  value: string
  onValue: (value: string) => void
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id} class="visually-hidden">
        {label}
      </label>
      <input
        id={id}
        key={value}
        type="search"
        list={`${id}-options`}
        placeholder={placeholder}
        defaultValue={value}
        onChange={(event) => onValue(event.currentTarget.value.trim())}
      />
      <datalist id={`${id}-options`}>
        {suggestions.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </div>
  )
}
