import { api } from '../../api.ts'
import type { ReadLevel } from '../../level.ts'
import { pathOf } from '../../level-address.ts'
import { Chip } from '../../parts/chip.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { installationTexts } from '../../texts/installation.ts'
import { useLoad } from '../../use-load.ts'

const texts = installationTexts.places
const address = 'GET /v1/integrations/{integration}/installations/{installation}'

export type PlaceRow = {
  kind: 'site' | 'space'
  id: string
  title: string
  status: string
  reason: string | undefined
  updatedAt: string
}

/** The sites and spaces that an installation is in, with the title of each. */
export async function readPlaces(
  { account, name: { org } }: ReadLevel,
  signal?: AbortSignal,
): Promise<PlaceRow[]> {
  const given = { query: { limit: 100 }, ...(signal && { signal }) }
  const params = { integration: account.integration, installation: account.id }
  const [sites, spaces, siteTitles, spaceTitles] = await Promise.all([
    api.call(`${address}/sites`, { params, ...given }),
    api.call(`${address}/spaces`, { params, ...given }),
    api.call('GET /v1/orgs/{org}/sites', { params: { org }, ...given }),
    api.call('GET /v1/orgs/{org}/spaces', { params: { org }, ...given }),
  ])
  const titles = new Map([...siteTitles.items, ...spaceTitles.items].map(({ id, title }) => [id, title]))
  const toRow = (
    kind: 'site' | 'space',
    id: string,
    { status, statusReason, updatedAt }: { status: string; statusReason?: string; updatedAt: string },
  ): PlaceRow => ({ kind, id, title: titles.get(id) ?? id, status, reason: statusReason, updatedAt })
  return [
    ...sites.items.map((one) => toRow('site', one.site, one)),
    ...spaces.items.map((one) => toRow('space', one.space, one)),
  ]
}

export function Places({ read }: { read: ReadLevel }) {
  const { org, installation } = read.name
  const list = useLoad(`places ${installation}`, (signal) => readPlaces(read, signal), 5_000)
  return (
    <section>
      <h2>{texts.title}</h2>
      <p class="muted">{texts.what}</p>
      <Loaded of={list} isEmpty={(rows) => rows.length === 0} empty={<p>{texts.none}</p>}>
        {(rows) => (
          <Table
            label={texts.title}
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              { title: texts.columns.state, kind: 'nowrap', cell: ({ status }) => <Chip state={status} /> },
              {
                title: texts.columns.place,
                kind: 'wide-cell',
                cell: ({ kind, id, title, reason }) => (
                  <>
                    <a href={pathOf({ org, installation, place: { kind, id } })}>
                      <bdi>{title}</bdi>
                    </a>
                    {reason !== undefined && <div class="muted">{reason}</div>}
                  </>
                ),
              },
              {
                title: texts.columns.kind,
                kind: 'nowrap',
                cell: ({ kind }) => (kind === 'site' ? texts.site : texts.space),
              },
              {
                title: texts.columns.changed,
                kind: 'nowrap',
                cell: ({ updatedAt }) => <Time at={updatedAt} />,
              },
            ]}
          />
        )}
      </Loaded>
    </section>
  )
}
