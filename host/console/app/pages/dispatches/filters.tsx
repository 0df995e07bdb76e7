import { api } from '../../api.ts'
import { Choice } from '../../parts/field.tsx'
import { SuggestField } from '../../parts/suggest-field.tsx'
import { dispatchTexts } from '../../texts/dispatches.ts'
import { texts as general } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'
import type { Filter } from './use-dispatches.ts'

const texts = dispatchTexts.filters
const most = 100
const outcomes = [
  'failed',
  'ok',
  'no_handler',
  'script_error',
  'cpu_limit',
  'memory_limit',
  'wall_clock_limit',
]
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
  filter: Filter
  onChange: (change: Filter) => void
  onClear: (() => void) | undefined
}) {
  const { outcome = '', type = '', installation = '' } = filter
  const { value } = useLoad(`installations of ${org}`, (signal) =>
    api.call('GET /v1/installations', { query: { organization: org, limit: most }, signal }),
  )
  const installations = (value?.items ?? []).map(({ id, integration }) => ({
    value: id,
    label: `${integration} …${id.slice(-6)}`,
  }))
  const toOutcome = (code: string) => ({
    value: code,
    label: code === 'failed' ? texts.failed : dispatchTexts.outcome(code),
  })
  return (
    <search class="filters" aria-label={general.deliveries.filters}>
      <Choice
        isHidden
        label={texts.outcome}
        value={outcome}
        options={withCurrent(texts.any, outcomes.map(toOutcome), outcome)}
        onValue={(outcome) => onChange({ outcome })}
      />
      <SuggestField
        label={texts.type}
        placeholder={texts.anyType}
        suggestions={types}
        value={type}
        onChange={(type) => onChange({ type })}
      />
      <Choice
        isHidden
        label={texts.installation}
        value={installation}
        options={withCurrent(texts.anyInstallation, installations, installation)}
        onValue={(installation) => onChange({ installation })}
      />
      {onClear !== undefined && (
        <button type="button" onClick={onClear}>
          {general.clearFilter}
        </button>
      )}
    </search>
  )
}

type Option = { value: string; label: string }

/** One that is not among the first ones may still be in the address. */
function withCurrent(any: string, options: readonly Option[], current: string): Option[] {
  const isKnown = current === '' || options.some(({ value }) => value === current)
  return [{ value: '', label: any }, ...(isKnown ? [] : [{ value: current, label: current }]), ...options]
}
