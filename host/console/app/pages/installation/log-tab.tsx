import { api } from '../../api.ts'
import { DispatchLink } from '../../parts/dispatch-link.tsx'
import { Level, LogText } from '../../parts/log-text.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { installationTexts } from '../../texts/installation.ts'
import { useLoad } from '../../use-load.ts'
import type { TabProps } from './tab-props.ts'

const texts = installationTexts.log

/** The newest lines of the script, the newest first. */
export function LogTab({ read }: TabProps) {
  const { id } = read.account
  const lines = useLoad(
    `log ${id}`,
    (signal) => api.call('GET /v1/logs', { query: { installation: id, limit: 100 }, signal }),
    3_000,
  )
  return (
    <section>
      <p class="muted">{texts.ofInstallation}</p>
      <Loaded of={lines} isEmpty={({ items }) => items.length === 0} empty={<p>{texts.nothing}</p>}>
        {({ items }) => (
          <>
            <Table
              label={installationTexts.tabs.log}
              rows={items.toReversed()}
              keyOf={({ id }) => String(id)}
              columns={[
                { title: texts.columns.at, kind: 'nowrap', cell: ({ at }) => <Time at={at} /> },
                {
                  title: texts.columns.level,
                  kind: 'nowrap',
                  cell: ({ level }) => <Level level={level} />,
                },
                {
                  title: texts.columns.text,
                  kind: 'wide-cell',
                  cell: ({ text }) => <LogText text={text} />,
                },
                {
                  title: texts.columns.request,
                  kind: 'nowrap',
                  cell: ({ request }) =>
                    request !== undefined && <DispatchLink org={read.name.org} request={request} />,
                },
              ]}
            />
            <p class="until">{texts.kept}</p>
          </>
        )}
      </Loaded>
    </section>
  )
}
