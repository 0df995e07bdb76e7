import { useId } from 'preact/hooks'

/** A text of several lines, with its label and a hint. */
export function TextArea({
  label,
  hint,
  rows = 3,
  value,
  onValue,
}: {
  label: string
  hint: string
  rows?: number
  value: string
  onValue: (value: string) => void
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        class="mono"
        spellcheck={false}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
        aria-describedby={`${id}-hint`}
      />
      <span class="hint" id={`${id}-hint`}>
        {hint}
      </span>
    </div>
  )
}
