import { api } from '../../api.ts'
import { type Filter, isFiltered, noFilter, type State } from '../../deliveries/filter.ts'
import { Choice } from '../../parts/field.tsx'
import { Filters as Bar } from '../../parts/filters/filters.tsx'
import { InstallationFilter, RecordFilter } from '../../parts/filters/record-filter.tsx'
import { TextFilter } from '../../parts/filters/text-filter.tsx'
import { TimeFilter } from '../../parts/filters/time-filter.tsx'
import { texts } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'

type Given = { org: string; filter: Filter; onChange: (change: Partial<Filter>) => void }

const most = 100

/** The filters of the API. Each change is another address. */
export function Filters({ org, filter, onChange }: Given) {
  const { value: receivers = [] } = useLoad(`receivers to choose ${org}`, async (signal) => {
    const query = { organization: org, limit: most }
    const { items } = await api.call('GET /v1/receivers', { query, signal })
    return items.map(({ id, url }) => ({ value: id, label: url }))
  })
  return (
    <Bar clear={isFiltered(filter) ? () => onChange(noFilter) : undefined}>
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
      <TextFilter
        label={texts.deliveries.type}
        placeholder={texts.deliveries.anyType}
        suggestions={types}
        value={filter.type}
        onValue={(type) => onChange({ type })}
      />
      <InstallationFilter
        org={org}
        value={filter.installation}
        onValue={(installation) => onChange({ installation })}
      />
      <RecordFilter
        label={texts.deliveries.receiver}
        any={texts.deliveries.anyReceiver}
        options={receivers}
        value={filter.receiver}
        onValue={(receiver) => onChange({ receiver })}
      />
      <TimeFilter range={filter} onChange={onChange} />
    </Bar>
  )
}

/** Scripts may queue events of any type: the known ones are suggestions. */
const types = ['site_view', 'page_feedback', 'space_content_updated']
