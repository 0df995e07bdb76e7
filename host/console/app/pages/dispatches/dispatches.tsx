import { useLocation, useRoute } from 'preact-iso'
import { api } from '../../api.ts'
import {
  type DispatchFilter,
  readDispatchFilter,
  toDispatchQuery,
  writeDispatchFilter,
} from '../../lists/dispatch-filter.ts'
import { numberKey, useRows } from '../../lists/use-rows.ts'
import { Id } from '../../parts/copy.tsx'
import { DispatchTable } from '../../parts/dispatch-table.tsx'
import { Head } from '../../parts/head.tsx'
import { RowsPage } from '../../parts/rows.tsx'
import { dispatchTexts as texts } from '../../texts/dispatches.ts'
import { Filters } from './filters.tsx'

const everyMs = 5_000

/** Calls into scripts. The filter and the page of the list are in the address. */
export default function DispatchesPage() {
  const { params, query } = useRoute()
  const { route } = useLocation()
  const { org = '' } = params
  const { page } = query
  const filter = readDispatchFilter(query)
  const here = `/orgs/${org}/dispatches`
  const addressOf = (filter: DispatchFilter, page?: string) => here + writeDispatchFilter(filter, page)
  const isFiltered = addressOf(filter) !== here
  const clear = () => route(here)
  const rows = useRows(
    `dispatches ${addressOf(filter)}`,
    page,
    async (at, signal) => {
      const query = { organization: org, ...toDispatchQuery(filter, Date.now()), ...at }
      const answer = await api.call('GET /v1/receipts', { query, signal })
      return { ...answer, items: answer.items.map((receipt) => ({ ...receipt, id: numberKey(receipt.id) })) }
    },
    everyMs,
  )
  return (
    <>
      <Head title={texts.title} crumbs={[{ label: org, href: `/orgs/${org}` }, { label: texts.title }]}>
        {texts.what}
      </Head>
      <Filters
        org={org}
        filter={filter}
        onChange={(change) => route(addressOf({ ...filter, ...change }))}
        onClear={isFiltered ? clear : undefined}
      />
      {filter.event !== '' && (
        <p class="row">
          {texts.ofEvent} <Id value={filter.event} />
        </p>
      )}
      <RowsPage
        of={rows}
        addressOf={(page) => addressOf(filter, page)}
        kept={() => texts.kept}
        empty={
          <>
            <p>{texts.nothing}</p>
            <a href={`/orgs/${org}`}>{texts.toSteps}</a>
          </>
        }
        filtered={isFiltered || page ? { clear } : undefined}
      >
        {(rows) => <DispatchTable org={org} rows={rows} />}
      </RowsPage>
    </>
  )
}
