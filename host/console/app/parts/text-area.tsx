import { useId } from 'preact/hooks'

/** A text of several lines, with its label and a hint. */
export function TextArea({
  label,
  hint,
  value,
  onValue,
}: {
  label: string
  hint: string
  value: string
  onValue: (value: string) => void
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={3}
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
