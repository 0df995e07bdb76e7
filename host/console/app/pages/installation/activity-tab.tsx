import { api } from '../../api.ts'
import { DispatchTable } from '../../parts/dispatch-table.tsx'
import { Loaded } from '../../parts/state.tsx'
import { dispatchTexts } from '../../texts/dispatches.ts'
import { useLoad } from '../../use-load.ts'
import type { TabProps } from './tab-props.ts'

const texts = dispatchTexts.tab

/** What the script did last. */
export function ActivityTab({ read: { account, name } }: TabProps) {
  const { id } = account
  const runs = useLoad(
    `activity ${id}`,
    (signal) => api.call('GET /v1/receipts', { query: { installation: id, limit: 20 }, signal }),
    5_000,
  )
  return (
    <section>
      <p class="muted">{texts.of}</p>
      <Loaded of={runs} isEmpty={({ items }) => items.length === 0} empty={<p>{texts.nothing}</p>}>
        {({ items, next }) => (
          <>
            <DispatchTable isOfOne org={name.org} rows={items} />
            {next && <a href={`/orgs/${name.org}/dispatches?installation=${id}`}>{texts.all}</a>}
            <p class="until">{dispatchTexts.kept}</p>
          </>
        )}
      </Loaded>
    </section>
  )
}
