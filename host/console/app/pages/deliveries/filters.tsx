import { useId } from 'preact/hooks'
import { api } from '../../api.ts'
import { type Filter, isFiltered, noFilter, type Period, type State } from '../../deliveries/filter.ts'
import { Choice } from '../../parts/field.tsx'
import { SuggestField } from '../../parts/suggest-field.tsx'
import { texts } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'

type Option = { value: string; label: string }
type Given = { org: string; filter: Filter; onChange: (change: Partial<Filter>) => void }

const most = 100

/** The filters of the API. Each change is another address. */
export function Filters({ org, filter, onChange }: Given) {
  const options = useLoad(`filters ${org}`, async (signal) => {
    const query = { organization: org, limit: most }
    const [installations, receivers] = await Promise.all([
      api.call('GET /v1/installations', { query, signal }),
      api.call('GET /v1/receivers', { query, signal }),
    ])
    return {
      installations: installations.items.map(({ id, integration }) => ({
        value: id,
        label: `${integration} …${id.slice(-6)}`,
      })),
      receivers: receivers.items.map(({ id, url }) => ({ value: id, label: url })),
    }
  })
  const { installations = [], receivers = [] } = options.value ?? {}
  return (
    <search class="filters" aria-label={texts.deliveries.filters}>
      <Choice
        isHidden
        label={texts.deliveries.state}
        value={filter.state}
        options={[
          { value: '', label: texts.deliveries.anyState },
          ...(['pending', 'delivered', 'failed'] as const).map((one) => ({
            value: one,
            label: texts.states[one],
          })),
        ]}
        onValue={(state) => onChange({ state: state as State | '' })}
      />
      <SuggestField
        label={texts.deliveries.type}
        placeholder={texts.deliveries.anyType}
        suggestions={types}
        value={filter.type}
        onChange={(type) => onChange({ type })}
      />
      <Choice
        isHidden
        label={texts.deliveries.installation}
        value={filter.installation}
        options={withCurrent(texts.deliveries.anyInstallation, installations, filter.installation)}
        onValue={(installation) => onChange({ installation })}
      />
      <Choice
        isHidden
        label={texts.deliveries.receiver}
        value={filter.receiver}
        options={withCurrent(texts.deliveries.anyReceiver, receivers, filter.receiver)}
        onValue={(receiver) => onChange({ receiver })}
      />
      <TimeFilter filter={filter} onChange={onChange} />
      {isFiltered(filter) && (
        <button type="button" onClick={() => onChange(noFilter)}>
          {texts.clearFilter}
        </button>
      )}
    </search>
  )
}

/** One that is not among the first ones may still be in the address. */
function withCurrent(any: string, options: readonly Option[], current: string): Option[] {
  const isKnown = current === '' || options.some(({ value }) => value === current)
  const missing = isKnown ? [] : [{ value: current, label: current }]
  return [{ value: '', label: any }, ...missing, ...options]
}

/** Scripts may queue events of any type. */
const types = ['site_view', 'page_feedback', 'space_content_updated']

function TimeFilter({ filter, onChange }: Omit<Given, 'org'>) {
  const { period, after, before } = filter
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
        label={texts.deliveries.time}
        value={isBetween ? 'between' : period}
        options={[
          { value: '', label: texts.deliveries.anyTime },
          ...Object.entries(texts.deliveries.periods).map(([name, label]) => ({ value: name, label })),
          { value: 'between', label: texts.deliveries.between },
        ]}
        onValue={choose}
      />
      {isBetween && (
        <>
          <TimeField label={texts.deliveries.after} value={after} onChange={(after) => onChange({ after })} />
          <TimeField
            label={texts.deliveries.before}
            value={before}
            onChange={(before) => onChange({ before })}
          />
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
