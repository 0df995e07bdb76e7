import { useLocation, useRoute } from 'preact-iso'
import { Head } from '../../parts/head.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { readReference } from '../../reference/read-reference.ts'
import { type Resource, searchReference } from '../../reference/to-reference.ts'
import { referenceTexts as words } from '../../texts/reference.ts'
import { useLoad } from '../../use-load.ts'
import { Method, Prose, RecordLink } from './words.tsx'

/** All operations by resource, and all records. The address has the search. */
export default function ReferencePage() {
  const { params, query } = useRoute()
  const { path, route } = useLocation()
  const { org = '' } = params
  const { find = '' } = query
  const reference = useLoad('reference', readReference)
  const search = (text: string) =>
    route(text === '' ? path : `${path}?${new URLSearchParams({ find: text })}`, true)
  return (
    <>
      <Head
        title={words.title}
        crumbs={[{ label: org, href: `/orgs/${org}` }, { label: words.title }]}
        actions={
          <a class="button" href="/openapi.json" target="_blank" rel="noreferrer">
            {words.document}
          </a>
        }
      >
        {words.what}
      </Head>
      <SearchField label={words.search} value={find} onValue={search} />
      <Loaded
        of={withSearch(reference, find)}
        isEmpty={({ resources, records }) => resources.length + records.length === 0}
        filtered={{ clear: () => search('') }}
      >
        {({ resources, records }) => (
          <>
            {resources.map((resource) => (
              <Operations key={resource.name} org={org} of={resource} />
            ))}
            {records.length > 0 && (
              <section class="reference-records">
                <h2>{words.records}</h2>
                <ul>
                  {records.map(([name]) => (
                    <li key={name}>
                      <RecordLink org={org} name={name} />
                    </li>
                  ))}
                </ul>
              </section>
            )}
          </>
        )}
      </Loaded>
    </>
  )
}

const withSearch = <Load extends { value?: Parameters<typeof searchReference>[0] | undefined }>(
  load: Load,
  find: string,
) => ({ ...load, value: load.value && searchReference(load.value, find) })

const Operations = ({ org, of: { name, description, operations } }: { org: string; of: Resource }) => (
  <section class="reference-resource">
    <h2>{name}</h2>
    <p class="muted">
      <Prose text={description} />
    </p>
    <Table
      label={name}
      rows={operations}
      keyOf={({ id }) => id}
      columns={[
        {
          title: words.columns.operation,
          kind: 'wide-cell',
          cell: ({ id, summary }) => <a href={`/orgs/${org}/docs/${id}`}>{summary}</a>,
        },
        {
          title: words.columns.address,
          cell: ({ method, path }) => <Method method={method} path={path} />,
        },
      ]}
    />
  </section>
)
