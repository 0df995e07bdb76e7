import { useLocation, useRoute } from 'preact-iso'
import { api } from '../../api.ts'
import {
  type LogFilter,
  type LogLevel,
  levels,
  readLogFilter,
  toLogQuery,
  writeLogFilter,
} from '../../lists/log-filter.ts'
import { numberKey, useRows } from '../../lists/use-rows.ts'
import { DispatchLink } from '../../parts/dispatch-link.tsx'
import { Choice } from '../../parts/field.tsx'
import { Filters } from '../../parts/filters/filters.tsx'
import { InstallationFilter } from '../../parts/filters/record-filter.tsx'
import { TimeFilter } from '../../parts/filters/time-filter.tsx'
import { Head } from '../../parts/head.tsx'
import { Level, LogText } from '../../parts/log-text.tsx'
import { RowsPage } from '../../parts/rows.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { logTexts as texts } from '../../texts/logs.ts'

const everyMs = 3_000

/** Lines of all scripts of the organization. Filter and page are in the address. */
export default function LogsPage() {
  const { params, query } = useRoute()
  const { route } = useLocation()
  const { org = '' } = params
  const { page } = query
  const filter = readLogFilter(query)
  const here = `/orgs/${org}/logs`
  const change = (given: Partial<LogFilter>) => route(here + writeLogFilter({ ...filter, ...given }))
  const isFiltered = writeLogFilter(filter) !== ''
  const clear = () => route(here)
  const rows = useRows(
    `logs ${org} ${writeLogFilter(filter)}`,
    page,
    async (at, signal) => {
      const answer = await api.call('GET /v1/logs', {
        query: { organization: org, ...toLogQuery(filter, Date.now()), ...at },
        signal,
      })
      // A page of the API has its oldest line first.
      return {
        ...answer,
        items: answer.items.toReversed().map((line) => ({ ...line, id: numberKey(line.id) })),
      }
    },
    everyMs,
  )
  return (
    <>
      <Head title={texts.title} crumbs={[{ label: org, href: `/orgs/${org}` }, { label: texts.title }]}>
        {texts.what}
      </Head>
      <Filters clear={isFiltered ? clear : undefined}>
        <SearchField label={texts.search} value={filter.text} onValue={(text) => change({ text })} />
        <Choice
          isHidden
          label={texts.level}
          value={filter.level}
          options={[
            { value: '', label: texts.anyLevel },
            ...levels.map((value) => ({ value, label: texts.levels[value] })),
          ]}
          onValue={(level) => change({ level: level as LogLevel | '' })}
        />
        <InstallationFilter
          org={org}
          value={filter.installation}
          onValue={(installation) => change({ installation })}
        />
        <TimeFilter range={filter} onChange={change} />
      </Filters>
      <RowsPage
        of={rows}
        addressOf={(page) => here + writeLogFilter(filter, page)}
        kept={() => texts.kept}
        empty={<p>{texts.nothing}</p>}
        filtered={isFiltered || page ? { clear } : undefined}
      >
        {(lines) => (
          <Table
            label={texts.title}
            rows={lines}
            keyOf={({ id }) => id}
            columns={[
              { title: texts.columns.at, kind: 'nowrap', cell: ({ at }) => <Time at={at} /> },
              { title: texts.columns.level, kind: 'nowrap', cell: ({ level }) => <Level level={level} /> },
              { title: texts.columns.text, kind: 'wide-cell', cell: ({ text }) => <LogText text={text} /> },
              {
                title: texts.columns.installation,
                cell: ({ installation, integration }) =>
                  installation === undefined ? (
                    <span title={texts.ofIntegration}>{integration}</span>
                  ) : (
                    <a href={`/orgs/${org}/installations/${installation}`} title={installation}>
                      {integration}
                    </a>
                  ),
              },
              {
                title: texts.columns.dispatch,
                kind: 'nowrap',
                cell: ({ request }) => request !== undefined && <DispatchLink org={org} request={request} />,
              },
            ]}
          />
        )}
      </RowsPage>
    </>
  )
}
