import { useLocation, useRoute } from 'preact-iso'
import { api } from '../api.ts'
import { Chip } from '../parts/chip.tsx'
import { Id } from '../parts/copy.tsx'
import { Choice } from '../parts/field.tsx'
import { Head } from '../parts/head.tsx'
import { Loaded } from '../parts/state.tsx'
import { Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { installationTexts } from '../texts/installation.ts'
import { useLoad } from '../use-load.ts'

const texts = installationTexts.list
const everyMs = 5_000
const pageSize = 100

/** What the organization has installed. Page and filter are in the address. */
export default function InstallationsPage() {
  const { org = '' } = useRoute().params
  const { query, path, route } = useLocation()
  const { integration = '', page = '' } = query
  const list = useLoad(
    `installations ${org} ${integration} ${page}`,
    (signal) =>
      api.call('GET /v1/installations', {
        query: {
          organization: org,
          limit: pageSize,
          ...(integration && { integration }),
          ...(page && { page }),
        },
        signal,
      }),
    everyMs,
  )
  const installed = useLoad(`installed ${org}`, (signal) =>
    api.call('GET /v1/integrations', {
      query: { organization: org, installed: true, limit: pageSize },
      signal,
    }),
  )
  const titles = new Map(installed.value?.items.map(({ name, title }) => [name, title]))
  const go = (next: Record<string, string>) => {
    const search = new URLSearchParams(Object.entries(next).filter(([, value]) => value !== ''))
    route(search.size === 0 ? path : `${path}?${search}`)
  }
  const next = list.value?.next?.page
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
            onValue={(chosen) => go({ integration: chosen })}
          />
        </div>
      )}
      <Loaded
        of={list}
        isEmpty={({ items }) => items.length === 0}
        empty={<p>{texts.nothing}</p>}
        filtered={integration === '' && page === '' ? undefined : { clear: () => go({}) }}
      >
        {({ items }) => (
          <>
            <Table
              label={texts.title}
              rows={items}
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
            {(page !== '' || next !== undefined) && (
              <div class="row">
                {page !== '' && (
                  <button type="button" onClick={() => go({ integration })}>
                    {texts.newest}
                  </button>
                )}
                {next !== undefined && (
                  <button type="button" onClick={() => go({ integration, page: next })}>
                    {texts.older}
                  </button>
                )}
              </div>
            )}
            <p class="until">{texts.end}</p>
          </>
        )}
      </Loaded>
    </>
  )
}
