import type { Delivery } from '../../../../schemas/generated/api/deliveries.ts'
import { texts } from '../texts.ts'
import { Chip } from './chip.tsx'
import { Table } from './table.tsx'
import { Time } from './time.tsx'

export const DeliveryTable = ({ org, rows }: { org: string; rows: readonly Delivery[] }) => (
  <Table
    label={texts.deliveries.title}
    rows={rows}
    keyOf={({ id }) => id}
    columns={[
      { title: texts.deliveries.columns.state, kind: 'nowrap', cell: ({ state }) => <Chip state={state} /> },
      {
        title: texts.deliveries.columns.event,
        kind: 'nowrap',
        cell: ({ id, event }) => <a href={`/orgs/${org}/deliveries/${id}`}>{event.type}</a>,
      },
      {
        title: texts.deliveries.columns.receiver,
        kind: 'wide-cell',
        cell: ({ url }) => (
          <code class="clip" title={url}>
            {url}
          </code>
        ),
      },
      { title: texts.deliveries.columns.attempts, kind: 'nowrap', cell: ({ attempts }) => attempts },
      {
        title: texts.deliveries.columns.created,
        kind: 'nowrap',
        cell: ({ createdAt }) => <Time at={createdAt} />,
      },
    ]}
  />
)
