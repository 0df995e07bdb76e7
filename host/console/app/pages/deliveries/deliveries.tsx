import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { api } from '../../api.ts'
import {
  type Filter,
  isFiltered,
  noFilter,
  readFilter,
  toQuery,
  writeFilter,
} from '../../deliveries/filter.ts'
import { useRows } from '../../lists/use-rows.ts'
import { useLive } from '../../live.ts'
import { Action } from '../../parts/action.tsx'
import { DeliveryTable } from '../../parts/delivery-table.tsx'
import { Head } from '../../parts/head.tsx'
import { RowsPage } from '../../parts/rows.tsx'
import { reasonAgainst } from '../../person.ts'
import { texts } from '../../texts.ts'
import { Filters } from './filters.tsx'
import { SendFailed } from './send-failed.tsx'

/** The filter and the page of the list are in the address. */
export default function DeliveriesPage() {
  const { params, query } = useRoute()
  const { route } = useLocation()
  const { org = '' } = params
  const { page } = query
  const filter = readFilter(query)
  const [isSending, setIsSending] = useState(false)
  const rows = useRows(`deliveries ${org} ${writeFilter(filter)}`, page, (at, signal) =>
    api.call('GET /v1/deliveries', {
      query: { organization: org, ...toQuery(filter, Date.now()), ...at },
      signal,
    }),
  )
  useLive(org, rows.list.reload)
  const here = `/orgs/${org}/deliveries`
  const change = (given: Partial<Filter>) => route(here + writeFilter({ ...filter, ...given }))
  return (
    <>
      <Head
        title={texts.deliveries.title}
        crumbs={[{ label: org, href: `/orgs/${org}` }, { label: texts.deliveries.title }]}
        actions={
          <Action act={() => setIsSending(true)} reason={reasonAgainst('sendFailedDeliveries')}>
            {texts.sendFailed.action}
          </Action>
        }
      >
        {texts.deliveries.what}
      </Head>
      <Filters org={org} filter={filter} onChange={change} />
      <RowsPage
        of={rows}
        addressOf={(page) => here + writeFilter(filter, page)}
        kept={({ retentionDays }) =>
          retentionDays === undefined ? texts.deliveries.keptForEver : texts.deliveries.kept(retentionDays)
        }
        empty={
          <>
            <p>{texts.deliveries.nothing}</p>
            <a href={`/orgs/${org}`}>{texts.deliveries.toSteps}</a>
          </>
        }
        filtered={isFiltered(filter) || page ? { clear: () => route(here) } : undefined}
      >
        {(rows) => <DeliveryTable org={org} rows={rows} />}
      </RowsPage>
      {isSending && (
        <SendFailed
          org={org}
          filter={{
            ...noFilter,
            type: filter.type,
            installation: filter.installation,
            receiver: filter.receiver,
          }}
          onClose={() => setIsSending(false)}
          onSent={rows.list.reload}
        />
      )}
    </>
  )
}
