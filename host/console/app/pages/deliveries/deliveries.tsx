import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { type Filter, isFiltered, noFilter, readFilter, writeFilter } from '../../deliveries/filter.ts'
import { useLive } from '../../live.ts'
import { Action } from '../../parts/action.tsx'
import { DeliveryTable } from '../../parts/delivery-table.tsx'
import { Head } from '../../parts/head.tsx'
import { Loaded } from '../../parts/state.tsx'
import { reasonAgainst } from '../../person.ts'
import { texts } from '../../texts.ts'
import { Filters } from './filters.tsx'
import { SendFailed } from './send-failed.tsx'
import { useDeliveries } from './use-deliveries.ts'

/** The filter and the page of the list are in the address. */
export default function DeliveriesPage() {
  const { params, query } = useRoute()
  const { route } = useLocation()
  const { org = '' } = params
  const { page } = query
  const filter = readFilter(query)
  const [isSending, setIsSending] = useState(false)
  const { list, showNew, newerPage } = useDeliveries(org, filter, page)
  useLive(org, list.reload)
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
      <Loaded
        of={list}
        isEmpty={({ rows }) => rows.length === 0}
        empty={
          <>
            <p>{texts.deliveries.nothing}</p>
            <a href={`/orgs/${org}`}>{texts.deliveries.toSteps}</a>
          </>
        }
        filtered={isFiltered(filter) || page ? { clear: () => route(here) } : undefined}
      >
        {({ rows, waiting, isMore, next, retentionDays }) => (
          <>
            {waiting > 0 && (
              <button type="button" class="waiting" onClick={showNew}>
                {texts.deliveries.waiting(waiting, isMore)}
              </button>
            )}
            <DeliveryTable org={org} rows={rows} />
            <div class="row pager">
              {page !== undefined && <a href={here + writeFilter(filter)}>{texts.deliveries.newest}</a>}
              {newerPage && <a href={here + writeFilter(filter, newerPage)}>{texts.deliveries.newer}</a>}
              {next && <a href={here + writeFilter(filter, next)}>{texts.deliveries.older}</a>}
            </div>
            <p class="until">
              {retentionDays === undefined
                ? texts.deliveries.keptForEver
                : texts.deliveries.kept(retentionDays)}
            </p>
          </>
        )}
      </Loaded>
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
          onSent={list.reload}
        />
      )}
    </>
  )
}
