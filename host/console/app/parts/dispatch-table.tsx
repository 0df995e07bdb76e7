import type { Receipt as ApiReceipt } from '../../../../schemas/generated/api/receipts.ts'
import { dispatchTexts as texts } from '../texts/dispatches.ts'
import { pathOfDispatch } from './dispatch-link.tsx'
import { Outcome } from './outcome.tsx'
import { type Column, Table } from './table.tsx'
import { Time } from './time.tsx'

type Receipt = Omit<ApiReceipt, 'id'> & { id: string | number }

/** `isOfOne`: all rows are of one installation. */
export function DispatchTable({
  org,
  rows,
  isOfOne = false,
}: {
  org: string
  rows: readonly Receipt[]
  isOfOne?: boolean
}) {
  const integration: Column<Receipt> = {
    title: texts.columns.integration,
    kind: 'wide-cell',
    cell: ({ integration, installation }) =>
      installation === undefined ? (
        integration
      ) : (
        <a href={`/orgs/${org}/installations/${installation}`} title={installation}>
          {integration}
        </a>
      ),
  }
  return (
    <Table
      label={texts.title}
      rows={rows}
      keyOf={({ id }) => String(id)}
      columns={[
        {
          title: texts.columns.outcome,
          kind: 'nowrap',
          cell: ({ outcome }) => <Outcome code={outcome} />,
        },
        {
          title: texts.columns.type,
          cell: ({ request, type }) => (
            <a class="clip" href={pathOfDispatch(org, request)}>
              {texts.typeOf(type)}
            </a>
          ),
        },
        ...(isOfOne ? [] : [integration]),
        { title: texts.columns.duration, kind: 'nowrap', cell: ({ wallMs }) => texts.ms(wallMs) },
        { title: texts.columns.cpu, kind: 'nowrap', cell: ({ cpuMs }) => texts.ms(cpuMs) },
        { title: texts.columns.requests, kind: 'nowrap', cell: ({ egressCalls }) => egressCalls },
        { title: texts.columns.deliveries, kind: 'nowrap', cell: ({ deliveries }) => deliveries },
        {
          title: texts.columns.started,
          kind: 'nowrap',
          cell: ({ startedAt }) => <Time at={startedAt} />,
        },
      ]}
    />
  )
}
