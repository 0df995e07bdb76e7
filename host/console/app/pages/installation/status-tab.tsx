import type { StatusChange } from '../../../../../schemas/generated/api/status-changes.ts'
import { api } from '../../api.ts'
import { paramsOf, type ReadLevel } from '../../level.ts'
import { pathOf } from '../../level-address.ts'
import { Chip } from '../../parts/chip.tsx'
import { pathOfDispatch } from '../../parts/dispatch-link.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { reasonAgainst } from '../../person.ts'
import { statusTexts as texts, whyChanged } from '../../texts/status-changes.ts'
import { useLoad } from '../../use-load.ts'
import type { TabProps } from './tab-props.ts'

/** As many are kept of a level. */
const most = 100
const address = 'GET /v1/integrations/{integration}/installations/{installation}/status-changes'

/** How the status has changed, the newest change first. */
export function StatusTab({ read }: TabProps) {
  const changes = useLoad(
    `status changes ${pathOf(read.name)}`,
    (signal) => api.call(address, { params: paramsOf(read), query: { limit: most }, signal }),
    5_000,
  )
  return (
    <section class="column narrow">
      <p class="muted">{texts.what}</p>
      <Loaded of={changes} isEmpty={({ items }) => items.length === 0} empty={<p>{texts.nothing}</p>}>
        {({ items }) => (
          <>
            <ol class="line">
              {items.map((change, at) => (
                <Change key={items.length - at} {...{ change, read }} />
              ))}
            </ol>
            <p class="until">{texts.kept}</p>
          </>
        )}
      </Loaded>
    </section>
  )
}

const marks: Partial<Record<StatusChange['to'], string>> = { active: 'good', suspended: 'bad' }

function Change({ change, read }: { change: StatusChange; read: ReadLevel }) {
  const { at, to, why, reason, by } = change
  const link = linkOf(change, read)
  return (
    <li class={why === 'setup_failed' ? 'bad' : marks[to]}>
      <div class="row">
        <Chip state={to} />
        <Time at={at} />
        <span class="muted">{texts.by[by.kind]}</span>
      </div>
      <p>{whyChanged(change)}</p>
      {reason !== undefined && (
        <p class="muted" dir="auto">
          {reason}
        </p>
      )}
      {link && <a href={link.href}>{link.text}</a>}
    </li>
  )
}

/** What leads to the cause of a change. The audit is for admins. */
function linkOf(
  { why, request }: StatusChange,
  { name, account }: ReadLevel,
): { href: string; text: string } | undefined {
  if (why === 'set_up' || why === 'setup_failed')
    return request === undefined
      ? undefined
      : { href: pathOfDispatch(name.org, request), text: texts.dispatch }
  if (why === 'suspended') return { href: pathOf(name, 'log'), text: texts.log }
  if (why === 'agreement')
    return { href: pathOf({ ...name, place: undefined }, 'permissions'), text: texts.permissions }
  if (why === 'version' || why === 'retired')
    return { href: `/orgs/${name.org}/integrations/${account.integration}`, text: texts.versions }
  if (why === 'recorded' || why === 'secret_key' || reasonAgainst('listAudit') !== undefined) return undefined
  const isOfAccount = name.place === undefined || why === 'paused' || why === 'resumed'
  const subject = isOfAccount ? account.id : `${account.id}/${name.place?.id}`
  return { href: `/orgs/${name.org}/audit?subject=${encodeURIComponent(subject)}`, text: texts.audit }
}
