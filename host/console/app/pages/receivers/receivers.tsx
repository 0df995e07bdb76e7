import { useLocation, useRoute } from 'preact-iso'
import { api } from '../../api.ts'
import { toSearch } from '../../lists/address.ts'
import { useRows } from '../../lists/use-rows.ts'
import { useLive } from '../../live.ts'
import { Chip } from '../../parts/chip.tsx'
import { Choice } from '../../parts/field.tsx'
import { Filters } from '../../parts/filters/filters.tsx'
import { Head } from '../../parts/head.tsx'
import { RowsPage } from '../../parts/rows.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { texts } from '../../texts.ts'
import { Health, toChip } from './health.tsx'

const states = ['active', 'paused', 'disabled'] as const

/** The addresses that deliveries of the organization go to. */
export default function ReceiversPage() {
  const { params, query } = useRoute()
  const { route } = useLocation()
  const { org = '' } = params
  const state = states.find((one) => one === query.state)
  const { page, installation } = query
  const here = `/orgs/${org}/receivers`
  const address = (given: Record<string, string | undefined>) =>
    here + toSearch({ state, installation, ...given })
  const rows = useRows(`receivers ${address({})}`, page, (at, signal) =>
    api.call('GET /v1/receivers', {
      query: { organization: org, ...(state && { state }), ...(installation && { installation }), ...at },
      signal,
    }),
  )
  useLive(org, rows.list.reload)
  const isFiltered = Boolean(state || installation || page)
  return (
    <>
      <Head
        title={texts.receivers.title}
        crumbs={[{ label: org, href: `/orgs/${org}` }, { label: texts.receivers.title }]}
      >
        {texts.receivers.what}
      </Head>
      <Filters clear={isFiltered ? () => route(here) : undefined}>
        <Choice
          isHidden
          label={texts.receivers.columns.state}
          value={state ?? ''}
          options={[
            { value: '', label: texts.receivers.anyState },
            ...states.map((one) => ({ value: one, label: texts.states[one] })),
          ]}
          onValue={(value) => route(address({ state: value }))}
        />
      </Filters>
      <RowsPage
        of={rows}
        addressOf={(page) => address({ page })}
        kept={() => texts.receivers.kept}
        empty={<p>{texts.receivers.nothing}</p>}
        filtered={isFiltered ? { clear: () => route(here) } : undefined}
      >
        {(receivers) => (
          <Table
            label={texts.receivers.title}
            rows={receivers}
            keyOf={({ id }) => id}
            columns={[
              {
                title: texts.receivers.columns.state,
                kind: 'nowrap',
                cell: (receiver) => <Chip state={toChip(receiver)} />,
              },
              {
                title: texts.receivers.columns.receiver,
                kind: 'wide-cell',
                cell: ({ id, url }) => (
                  <a href={`/orgs/${org}/receivers/${id}`} title={url}>
                    <code class="clip">{url}</code>
                  </a>
                ),
              },
              {
                title: texts.receivers.columns.health,
                kind: 'wide-cell',
                cell: (receiver) => receiver.reason ?? <Health receiver={receiver} />,
              },
              {
                title: texts.receivers.columns.created,
                kind: 'nowrap',
                cell: ({ createdAt }) => <Time at={createdAt} />,
              },
            ]}
          />
        )}
      </RowsPage>
    </>
  )
}
