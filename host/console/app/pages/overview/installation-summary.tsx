import type { Answer } from '../../../../../schemas/client.ts'
import { Chip } from '../../parts/chip.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { texts } from '../../texts.ts'

export type InstallationList = Answer<'GET /v1/installations'>

/** An organization with more has no exact number here. */
export const mostRead = 200
const mostShown = 8

/** `14`, or `200+`. */
export const toCount = ({ items, next }: InstallationList): string =>
  items.length.toLocaleString('en') + (next === undefined ? '' : '+')

/** The installations that are not active come first: an organization may have hundreds. */
export function InstallationSummary({ org, list }: { org: string; list: InstallationList }) {
  const { items } = list
  const isActive = ({ status }: { status: string }) => status === 'active'
  const shown = [...items.filter((one) => !isActive(one)), ...items.filter(isActive)].slice(0, mostShown)
  return (
    <>
      <Table
        label={texts.overview.installations}
        rows={shown}
        keyOf={({ id }) => id}
        columns={[
          {
            title: texts.overview.columns.state,
            kind: 'nowrap',
            cell: ({ status }) => <Chip state={status} />,
          },
          {
            title: texts.overview.columns.integration,
            kind: 'nowrap',
            cell: ({ id, integration }) => <a href={`/orgs/${org}/installations/${id}`}>{integration}</a>,
          },
          {
            title: texts.overview.columns.why,
            kind: 'wide-cell',
            cell: ({ statusReason }) => statusReason ?? '',
          },
          {
            title: texts.overview.columns.since,
            kind: 'nowrap',
            cell: ({ updatedAt }) => <Time at={updatedAt} />,
          },
        ]}
      />
      {shown.length < items.length && <p class="until">{texts.overview.few(shown.length, toCount(list))}</p>}
    </>
  )
}
