import type { Problem } from '../../../../../schemas/generated/api/problems.ts'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { versionTexts as texts } from '../../texts/versions.ts'

type Given = { problems: readonly Problem[] }
const keyOf = ({ kind, subject, sentence }: Problem): string => `${kind} ${subject.id} ${sentence}`

/** Folders whose files are not deployed, with the first error of each. */
export function Refused({ problems }: Given) {
  if (problems.length === 0) return null
  return (
    <section>
      <h2>{texts.refused}</h2>
      <Table
        label={texts.refused}
        rows={problems}
        keyOf={keyOf}
        columns={[
          {
            title: texts.refusedColumns.folder,
            kind: 'nowrap',
            cell: ({ subject }) => <code>{subject.id}</code>,
          },
          { title: texts.refusedColumns.why, kind: 'wide-cell', cell: ({ sentence }) => sentence },
          { title: texts.refusedColumns.since, kind: 'nowrap', cell: ({ since }) => <Time at={since} /> },
        ]}
      />
    </section>
  )
}

/** Versions that organizations have not agreed to yet. */
export function Waiting({ problems }: Given) {
  if (problems.length === 0) return null
  return (
    <section>
      <h2>{texts.waiting}</h2>
      <Table
        label={texts.waiting}
        rows={problems}
        keyOf={keyOf}
        columns={[
          {
            title: texts.waitingColumns.what,
            kind: 'wide-cell',
            cell: ({ sentence, organization, subject }) => (
              <a href={`/orgs/${organization}/installations/${subject.id}/permissions`}>{sentence}</a>
            ),
          },
          {
            title: texts.waitingColumns.organization,
            cell: ({ organization, organizationSubdomain }) => (
              <a href={`/orgs/${organization}`}>{organizationSubdomain}</a>
            ),
          },
          { title: texts.waitingColumns.since, kind: 'nowrap', cell: ({ since }) => <Time at={since} /> },
        ]}
      />
    </section>
  )
}
