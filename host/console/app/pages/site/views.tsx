import { useRoute } from 'preact-iso'
import { api } from '../../api.ts'
import { toSearch } from '../../lists/address.ts'
import { useRows } from '../../lists/use-rows.ts'
import { OutsideLink } from '../../parts/outside-link.tsx'
import { RowsPage } from '../../parts/rows.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { placeTexts } from '../../texts/places.ts'

const texts = placeTexts.site
const everyMs = 10_000

/** Each view of the site, with what it set off. */
export function Views({ org, site, here }: { org: string; site: string; here: string }) {
  const { page } = useRoute().query
  const rows = useRows(
    `views ${org} ${site}`,
    page,
    async (at, signal) => {
      const params = { org, site }
      const answer = await api.call('GET /v1/orgs/{org}/sites/{site}/views', { params, query: at, signal })
      // The list is in the order of time.
      return { ...answer, items: answer.items.map((view) => ({ ...view, id: `${view.at} ${view.eventId}` })) }
    },
    everyMs,
  )
  return (
    <RowsPage
      of={rows}
      addressOf={(page) => here + toSearch({ page })}
      kept={() => texts.keptViews}
      empty={<p>{texts.noViews}</p>}
      filtered={undefined}
    >
      {(views) => (
        <Table
          label={texts.tabs.views}
          rows={views}
          keyOf={({ id }) => id}
          columns={[
            { title: texts.viewColumns.at, kind: 'nowrap', cell: ({ at }) => <Time at={at} /> },
            {
              title: texts.viewColumns.url,
              kind: 'wide-cell',
              cell: ({ url }) => <OutsideLink href={url}>{url}</OutsideLink>,
            },
            {
              title: texts.viewColumns.caused,
              kind: 'nowrap',
              cell: ({ eventId }) => (
                <a href={`/orgs/${org}/dispatches${toSearch({ event: eventId })}`} title={eventId}>
                  {texts.dispatches}
                </a>
              ),
            },
          ]}
        />
      )}
    </RowsPage>
  )
}
