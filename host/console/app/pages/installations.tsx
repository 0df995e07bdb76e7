import { useLocation, useRoute } from 'preact-iso'
import { api } from '../api.ts'
import { toSearch } from '../lists/address.ts'
import { useRows } from '../lists/use-rows.ts'
import { Chip } from '../parts/chip.tsx'
import { Id } from '../parts/copy.tsx'
import { Choice } from '../parts/field.tsx'
import { Head } from '../parts/head.tsx'
import { RowsPage } from '../parts/rows.tsx'
import { Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { installationTexts } from '../texts/installation.ts'
import { useLoad } from '../use-load.ts'

const texts = installationTexts.list
const everyMs = 5_000
const mostNames = 100

/** What the organization has installed. Page and filter are in the address. */
export default function InstallationsPage() {
  const { org = '' } = useRoute().params
  const { query, route } = useLocation()
  const { integration = '', page } = query
  const addressOf = (filter: string, page?: string) =>
    `/orgs/${org}/installations${toSearch({ integration: filter, page })}`
  const rows = useRows(
    `installations ${org} ${integration}`,
    page,
    (at, signal) =>
      api.call('GET /v1/installations', {
        query: { organization: org, ...(integration && { integration }), ...at },
        signal,
      }),
    everyMs,
    'oldest',
  )
  const installed = useLoad(`installed ${org}`, (signal) =>
    api.call('GET /v1/integrations', {
      query: { organization: org, installed: true, limit: mostNames },
      signal,
    }),
  )
  const titles = new Map(installed.value?.items.map(({ name, title }) => [name, title]))
  return (
    <>
      <Head title={texts.title} crumbs={[{ label: org, href: `/orgs/${org}` }, { label: texts.title }]}>
        {texts.what}
      </Head>
      {(titles.size > 1 || integration !== '') && (
        <div class="filters">
          <Choice
            label={texts.integration}
            value={integration}
            options={[
              { value: '', label: texts.all },
              ...[...titles].map(([value, label]) => ({ value, label })),
              ...(integration !== '' && !titles.has(integration)
                ? [{ value: integration, label: integration }]
                : []),
            ]}
            onValue={(chosen) => route(addressOf(chosen))}
          />
        </div>
      )}
      <RowsPage
        of={rows}
        addressOf={(page) => addressOf(integration, page)}
        kept={() => texts.end}
        empty={<p>{texts.nothing}</p>}
        filtered={
          integration === '' && page === undefined ? undefined : { clear: () => route(addressOf('')) }
        }
      >
        {(installations) => (
          <Table
            label={texts.title}
            rows={installations}
            keyOf={({ id }) => id}
            columns={[
              { title: texts.columns.state, kind: 'nowrap', cell: ({ status }) => <Chip state={status} /> },
              {
                title: texts.columns.integration,
                kind: 'wide-cell',
                cell: ({ id, integration: name, statusReason }) => (
                  <>
                    <a href={`/orgs/${org}/installations/${id}`}>
                      <bdi>{titles.get(name) ?? name}</bdi>
                    </a>
                    {statusReason !== undefined && <div class="muted">{statusReason}</div>}
                  </>
                ),
              },
              {
                title: texts.columns.changed,
                kind: 'nowrap',
                cell: ({ updatedAt }) => <Time at={updatedAt} />,
              },
              { title: texts.columns.id, kind: 'nowrap', cell: ({ id }) => <Id value={id} /> },
            ]}
          />
        )}
      </RowsPage>
    </>
  )
}
