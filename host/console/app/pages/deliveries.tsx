import { useLocation, useRoute } from 'preact-iso'
import { api } from '../api.ts'
import { DeliveryTable } from '../parts/delivery-table.tsx'
import { Choice } from '../parts/field.tsx'
import { Head } from '../parts/head.tsx'
import { Loaded } from '../parts/state.tsx'
import { texts } from '../texts.ts'
import { useLoad } from '../use-load.ts'

const states = ['pending', 'delivered', 'failed'] as const
type State = (typeof states)[number]

/** The filter and the page of the list are in the address. */
export default function DeliveriesPage() {
  const { params, query } = useRoute()
  const { route } = useLocation()
  const { org = '' } = params
  const state = states.find((one) => one === query.state)
  const { page, installation } = query
  const here = `/orgs/${org}/deliveries`
  const list = useLoad(
    `deliveries ${org} ${state} ${page} ${installation}`,
    (signal) =>
      api.call('GET /v1/deliveries', {
        query: {
          organization: org,
          limit: 100,
          ...(state && { state }),
          ...(page && { page }),
          ...(installation && { installation }),
        },
        signal,
      }),
    page === undefined ? 3_000 : undefined,
  )
  const address = (given: { state?: State | undefined; page?: string | undefined }) => {
    const entries = Object.entries({ installation, ...given }).filter(([, value]) => value)
    const text = new URLSearchParams(entries as [string, string][]).toString()
    return text === '' ? here : `${here}?${text}`
  }
  const isFiltered = state !== undefined || installation !== undefined || page !== undefined
  return (
    <>
      <Head
        title={texts.deliveries.title}
        crumbs={[{ label: org, href: `/orgs/${org}` }, { label: texts.deliveries.title }]}
      >
        {texts.deliveries.what}
      </Head>
      <div class="row">
        <Choice
          isHidden
          label={texts.deliveries.state}
          value={state ?? ''}
          options={[
            { value: '', label: texts.deliveries.all },
            ...states.map((one) => ({ value: one, label: texts.states[one] })),
          ]}
          onValue={(value) => route(address({ state: states.find((one) => one === value) }))}
        />
      </div>
      <Loaded
        of={list}
        isEmpty={({ items }) => items.length === 0}
        empty={
          <>
            <p>{texts.deliveries.nothing}</p>
            <a href={`/orgs/${org}`}>{texts.deliveries.toSteps}</a>
          </>
        }
        filtered={isFiltered ? { clear: () => route(here) } : undefined}
      >
        {({ items, next }) => (
          <>
            <DeliveryTable org={org} rows={items} />
            <div class="row pager">
              {page !== undefined && <a href={address({ state })}>{texts.deliveries.newest}</a>}
              {next && <a href={address({ state, page: next.page })}>{texts.deliveries.older}</a>}
            </div>
            <p class="until">{texts.deliveries.kept}</p>
          </>
        )}
      </Loaded>
    </>
  )
}
