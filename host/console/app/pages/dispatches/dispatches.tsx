import { useLocation, useRoute } from 'preact-iso'
import { api } from '../../api.ts'
import { numberKey, useRows } from '../../lists/use-rows.ts'
import { Id } from '../../parts/copy.tsx'
import { DispatchTable } from '../../parts/dispatch-table.tsx'
import { Head } from '../../parts/head.tsx'
import { RowsPage } from '../../parts/rows.tsx'
import { dispatchTexts as texts } from '../../texts/dispatches.ts'
import { type Filter, Filters } from './filters.tsx'

const everyMs = 5_000
const names = ['outcome', 'type', 'installation', 'event'] as const

/** Calls into scripts. The filter and the page of the list are in the address. */
export default function DispatchesPage() {
  const { params, query } = useRoute()
  const { route } = useLocation()
  const { org = '' } = params
  const { page } = query
  const filter: Filter = Object.fromEntries(
    names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])),
  )
  const rows = useRows(
    `dispatches ${org} ${JSON.stringify(filter)}`,
    page,
    async (at, signal) => {
      const query = { organization: org, ...filter, ...at }
      const answer = await api.call('GET /v1/receipts', { query, signal })
      return { ...answer, items: answer.items.map((receipt) => ({ ...receipt, id: numberKey(receipt.id) })) }
    },
    everyMs,
  )
  const here = `/orgs/${org}/dispatches`
  const address = (given: Filter & { page?: string }) => {
    const entries = Object.entries(given).filter(([, value]) => value)
    return entries.length === 0 ? here : `${here}?${new URLSearchParams(entries)}`
  }
  const isFiltered = Object.keys(filter).length > 0
  return (
    <>
      <Head title={texts.title} crumbs={[{ label: org, href: `/orgs/${org}` }, { label: texts.title }]}>
        {texts.what}
      </Head>
      <Filters
        org={org}
        filter={filter}
        onChange={(change) => route(address({ ...filter, ...change }))}
        onClear={isFiltered ? () => route(here) : undefined}
      />
      {filter.event !== undefined && (
        <p class="row">
          {texts.ofEvent} <Id value={filter.event} />
        </p>
      )}
      <RowsPage
        of={rows}
        addressOf={(page) => address({ ...filter, ...(page && { page }) })}
        kept={() => texts.kept}
        empty={
          <>
            <p>{texts.nothing}</p>
            <a href={`/orgs/${org}`}>{texts.toSteps}</a>
          </>
        }
        filtered={isFiltered || page ? { clear: () => route(here) } : undefined}
      >
        {(rows) => <DispatchTable org={org} rows={rows} />}
      </RowsPage>
    </>
  )
}
