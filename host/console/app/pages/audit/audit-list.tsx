import { useLocation } from 'preact-iso'
import type { AuditEntry } from '../../../../../schemas/generated/api/audit.ts'
import { api } from '../../api.ts'
import {
  type AuditFilter,
  noAuditFilter,
  readAuditFilter,
  toAuditQuery,
  writeAuditFilter,
} from '../../lists/audit-filter.ts'
import { toRecordPath } from '../../lists/record-path.ts'
import { useRows } from '../../lists/use-rows.ts'
import { shorten } from '../../parts/copy.tsx'
import { Filters } from '../../parts/filters/filters.tsx'
import { TextFilter } from '../../parts/filters/text-filter.tsx'
import { TimeFilter } from '../../parts/filters/time-filter.tsx'
import { RowsPage } from '../../parts/rows.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { me } from '../../state.ts'
import { auditTexts as texts } from '../../texts/audit.ts'
import { navigationTexts } from '../../texts/navigation.ts'
import { Changes } from './changes.tsx'

const everyMs = 10_000

/** Changes of an organization, without one those of all. Filter and page are in the address. */
export function AuditList({
  org,
  here,
  names = new Map(),
}: {
  org?: string
  here: string
  /** Emails of members by their ids. */
  names?: ReadonlyMap<string, string>
}) {
  const { query, route } = useLocation()
  const { page } = query
  const filter = readAuditFilter(query)
  const isFiltered = writeAuditFilter(filter) !== ''
  const clear = () => route(here)
  const change = (given: Partial<AuditFilter>) => route(here + writeAuditFilter({ ...filter, ...given }))
  const rows = useRows(
    `audit ${here}${writeAuditFilter(filter)}`,
    page,
    (at, signal) =>
      api.call('GET /v1/audit', {
        query: {
          ...(org !== undefined && { organization: org }),
          ...toAuditQuery(filter, Date.now()),
          ...at,
        },
        signal,
      }),
    everyMs,
  )
  const actions = [...new Set(rows.list.value?.rows.map(({ action }) => action))].sort()
  return (
    <>
      <Filters clear={isFiltered ? clear : undefined}>
        <TextFilter
          label={texts.action}
          suggestions={actions}
          value={filter.action}
          onValue={(action) => change({ action })}
        />
        <TextFilter label={texts.subject} value={filter.subject} onValue={(subject) => change({ subject })} />
        <TextFilter label={texts.actor} value={filter.actor} onValue={(actor) => change({ actor })} />
        <TimeFilter range={filter} onChange={change} />
      </Filters>
      <RowsPage
        of={rows}
        addressOf={(page) => here + writeAuditFilter(filter, page)}
        kept={({ retentionDays }) =>
          retentionDays === undefined ? texts.keptForEver : texts.kept(retentionDays)
        }
        empty={<p>{texts.nothing}</p>}
        filtered={isFiltered || page ? { clear } : undefined}
      >
        {(entries) => (
          <Table
            label={navigationTexts.audit}
            rows={entries}
            keyOf={({ id }) => id}
            columns={[
              { title: texts.columns.at, kind: 'nowrap', cell: ({ at }) => <Time at={at} /> },
              {
                title: texts.columns.action,
                kind: 'nowrap',
                cell: ({ action }) => <code>{action}</code>,
              },
              { title: texts.columns.subject, cell: (entry) => <Subject org={org} entry={entry} /> },
              ...(org === undefined ? [organizationColumn] : []),
              {
                title: texts.columns.actor,
                cell: ({ actor }) => (
                  <Actor
                    actor={actor}
                    names={names}
                    only={(id) => here + writeAuditFilter({ ...noAuditFilter, actor: id })}
                  />
                ),
              },
              {
                title: texts.columns.changes,
                kind: 'wide-cell',
                cell: (entry) => <Changes entry={entry} />,
              },
            ]}
          />
        )}
      </RowsPage>
    </>
  )
}

const organizationColumn: Column<AuditEntry> = {
  title: texts.columns.organization,
  kind: 'nowrap',
  cell: ({ organization }) =>
    organization === null ? (
      <span class="muted">{texts.whole}</span>
    ) : (
      <a href={`/orgs/${organization}`} title={organization}>
        <code>{shorten(organization)}</code>
      </a>
    ),
}

function Subject({
  org,
  entry: { subject, organization, action },
}: {
  org: string | undefined
  entry: AuditEntry
}) {
  const owner = org ?? organization
  const path = owner === null || action.endsWith('.delete') ? undefined : toRecordPath(owner, subject)
  const name = <code title={subject.id}>{subject.id.split('/').map(shorten).join('/')}</code>
  return path === undefined ? name : <a href={path}>{name}</a>
}

function Actor({
  actor: { kind, id },
  names,
  only,
}: {
  actor: AuditEntry['actor']
  names: ReadonlyMap<string, string>
  only: (id: string) => string
}) {
  if (id === null) return <>{texts.kinds[kind]}</>
  const name = id === me.value?.account?.id ? texts.you : names.get(id)
  return (
    <>
      {name === undefined && `${texts.kinds[kind]} `}
      <a href={only(id)} title={texts.onlyThis(id)}>
        {name ?? <code>{shorten(id)}</code>}
      </a>
    </>
  )
}
