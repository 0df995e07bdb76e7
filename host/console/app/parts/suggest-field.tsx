import { useId } from 'preact/hooks'

/** A text of a filter, with suggestions. Its label is for screen readers. */
export function SuggestField({
  label,
  placeholder,
  suggestions,
  value,
  onChange,
}: {
  label: string
  placeholder: string
  suggestions: readonly string[]
  value: string
  onChange: (value: string) => void
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
        list={`${id}-list`}
        placeholder={placeholder}
        defaultValue={value}
        onChange={(event) => onChange(event.currentTarget.value.trim())}
      />
      <datalist id={`${id}-list`}>
        {suggestions.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </div>
  )
}
