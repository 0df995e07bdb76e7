import { useId } from 'preact/hooks'
import type { Period, TimeRange } from '../../lists/time-range.ts'
import { texts } from '../../texts.ts'
import { Choice } from '../field.tsx'

const words = texts.list

/** A period up to now, or two times. */
export function TimeFilter({
  range: { period, after, before },
  onChange,
}: {
  range: TimeRange
  onChange: (change: Partial<TimeRange>) => void
}) {
  const isBetween = period === '' && (after !== '' || before !== '')
  const choose = (value: string) =>
    onChange(
      value === 'between'
        ? { period: '', after: new Date(Date.now() - 24 * 3_600_000).toISOString(), before: '' }
        : { period: value as Period | '', after: '', before: '' },
    )
  return (
    <>
      <Choice
        isHidden
        label={words.time}
        value={isBetween ? 'between' : period}
        options={[
          { value: '', label: words.anyTime },
          ...Object.entries(words.periods).map(([name, label]) => ({ value: name, label })),
          { value: 'between', label: words.between },
        ]}
        onValue={choose}
      />
      {isBetween && (
        <>
          <TimeField label={words.after} value={after} onChange={(after) => onChange({ after })} />
          <TimeField label={words.before} value={before} onChange={(before) => onChange({ before })} />
        </>
      )}
    </>
  )
}

/** The address has the time in UTC: it means the same in another place. */
function TimeField({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange: (value: string) => void
}) {
  const id = useId()
  return (
    <div class="field inline">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="datetime-local"
        value={toLocal(value)}
        onChange={({ currentTarget }) =>
          onChange(currentTarget.value === '' ? '' : new Date(currentTarget.value).toISOString())
        }
      />
    </div>
  )
}

function toLocal(iso: string): string {
  if (iso === '') return ''
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
