import type { Integration } from '../../../../../schemas/generated/api/integrations.ts'
import type { Version } from '../../../../../schemas/generated/api/versions.ts'
import { api } from '../../api.ts'
import { toSearch } from '../../lists/address.ts'
import { Chip } from '../../parts/chip.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { versionTexts as texts } from '../../texts/versions.ts'
import { useLoad } from '../../use-load.ts'

const everyMs = 10_000
/** Each row reads its versions: an operator has tens of integrations. */
const pageSize = 50

type Row = { integration: Integration; versions: readonly Version[] }

/** Which version of each integration runs. */
export function DeployedVersions({ page }: { page: string | undefined }) {
  const list = useLoad(`versions ${page}`, (signal) => readRows(page, signal), everyMs)
  return (
    <section>
      <h2>{texts.integrations}</h2>
      <Loaded of={list} isEmpty={({ rows }) => rows.length === 0} empty={<p>{texts.nothing}</p>}>
        {({ rows, next }) => (
          <>
            <Table
              label={texts.integrations}
              rows={rows}
              keyOf={({ integration: { name } }) => name}
              columns={[
                {
                  title: texts.columns.state,
                  kind: 'nowrap',
                  cell: ({ integration }) => <Chip state={stateOf(integration)} />,
                },
                {
                  title: texts.columns.integration,
                  kind: 'wide-cell',
                  cell: ({ integration: { name, title, organization } }) => (
                    <a href={`/orgs/${organization}/integrations/${name}`} title={name}>
                      <bdi>{title}</bdi>
                    </a>
                  ),
                },
                {
                  title: texts.columns.version,
                  kind: 'nowrap',
                  cell: ({ integration: { version } }) =>
                    version === null ? <span class="muted">{texts.none}</span> : texts.number(version.number),
                },
                {
                  title: texts.columns.pinned,
                  cell: ({ versions }) => <Pinned versions={versions} />,
                },
                {
                  title: texts.columns.changed,
                  kind: 'nowrap',
                  cell: ({ versions }) => {
                    const deployed = versions.find(({ state }) => state === 'deployed')
                    return deployed && <Time at={deployed.createdAt} />
                  },
                },
              ]}
            />
            <nav class="row pager" aria-label={texts.integrations}>
              {page !== undefined && <a href="/versions">{texts.first}</a>}
              {next && <a href={`/versions${toSearch({ page: next.page })}`}>{texts.next}</a>}
            </nav>
            <p class="until">{texts.kept}</p>
          </>
        )}
      </Loaded>
    </section>
  )
}

async function readRows(page: string | undefined, signal: AbortSignal) {
  const { items, next } = await api.call('GET /v1/integrations', {
    query: { limit: pageSize, ...(page !== undefined && { page }) },
    signal,
  })
  const rows = await Promise.all(
    items.map(async (integration): Promise<Row> => {
      const params = { integration: integration.name }
      const query = { limit: 20 }
      const { items: versions } = await api.call('GET /v1/integrations/{integration}/versions', {
        ...{ params, query, signal },
      })
      return { integration, versions }
    }),
  )
  return { rows, next }
}

const stateOf = ({ version, suspension }: Integration): string =>
  version === null ? 'retired' : suspension === undefined ? 'deployed' : 'suspended'

/** A pinned version runs until a person unpins it, whatever the folder has. */
function Pinned({ versions }: { versions: readonly Version[] }) {
  const pinned = versions.find((one) => one.pinned)
  if (pinned === undefined) return <span class="muted">{texts.notPinned}</span>
  const loaded = versions.find(({ state }) => state === 'loaded')
  return (
    <>
      {texts.pinnedTo(pinned.number)}
      {loaded && <div class="muted small">{texts.folderHas(loaded.number)}</div>}
    </>
  )
}
