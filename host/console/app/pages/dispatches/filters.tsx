import type { DispatchFilter } from '../../lists/dispatch-filter.ts'
import { Filters as Bar } from '../../parts/filters/filters.tsx'
import { InstallationFilter, RecordFilter } from '../../parts/filters/record-filter.tsx'
import { TextFilter } from '../../parts/filters/text-filter.tsx'
import { TimeFilter } from '../../parts/filters/time-filter.tsx'
import { dispatchTexts } from '../../texts/dispatches.ts'

const texts = dispatchTexts.filters
const outcomes = [
  'failed',
  'ok',
  'no_handler',
  'script_error',
  'cpu_limit',
  'memory_limit',
  'wall_clock_limit',
].map((value) => ({ value, label: value === 'failed' ? texts.failed : dispatchTexts.outcome(value) }))
/** Scripts have tasks and events of other types, too. */
const types = ['fetch', 'task', 'site_view', 'page_feedback', 'space_content_updated', 'installation_setup']

/** The filters of the API. Each change is another address. */
export function Filters({
  org,
  filter,
  onChange,
  onClear,
}: {
  org: string
  filter: DispatchFilter
  onChange: (change: Partial<DispatchFilter>) => void
  onClear: (() => void) | undefined
}) {
  const { outcome, type, installation } = filter
  return (
    <Bar clear={onClear}>
      <RecordFilter
        label={texts.outcome}
        any={texts.any}
        options={outcomes}
        value={outcome}
        onValue={(outcome) => onChange({ outcome })}
      />
      <TextFilter
        label={texts.type}
        placeholder={texts.anyType}
        suggestions={types}
        value={type}
        onValue={(type) => onChange({ type })}
      />
      <InstallationFilter
        org={org}
        value={installation}
        onValue={(installation) => onChange({ installation })}
      />
      <TimeFilter range={filter} onChange={onChange} />
    </Bar>
  )
}
