import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import type { DayCounts, ReceiverWithCounts } from '../../../../../schemas/generated/api/receivers.ts'
import { api } from '../../api.ts'
import { useLive } from '../../live.ts'
import { Boundary } from '../../parts/boundary.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Id } from '../../parts/copy.tsx'
import { DeliveryTable } from '../../parts/delivery-table.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { InstallationLink } from '../../parts/installation-link.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { texts } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'
import { type OfActions, OrderAction, ReceiverActions } from './actions.tsx'
import { Health, toChip } from './health.tsx'

/** One receiver: whether it takes deliveries, how far it is behind, and what a person can do. */
export default function ReceiverPage() {
  const { org = '', receiver: id = '' } = useRoute().params
  const [error, setError] = useState<unknown>()
  const read = useLoad(`receiver ${org} ${id}`, (signal) =>
    api.call('GET /v1/receivers/{receiver}', { params: { receiver: id }, signal }),
  )
  const deliveries = useLoad(`deliveries of ${org} ${id}`, (signal) =>
    api.call('GET /v1/deliveries', { query: { organization: org, receiver: id, limit: 10 }, signal }),
  )
  const reload = () => {
    read.reload()
    deliveries.reload()
  }
  useLive(org, reload, ({ receiver }) => receiver === id)
  const { value } = read
  return (
    <>
      <Head
        title={texts.receiver.title(value ? hostOf(value.url) : '')}
        crumbs={[
          { label: org, href: `/orgs/${org}` },
          { label: texts.receivers.title, href: `/orgs/${org}/receivers` },
          { label: value?.url ?? id },
        ]}
        state={value && <Chip state={toChip(value)} />}
        actions={value && <ReceiverActions receiver={value} onChange={reload} onError={setError} />}
      >
        {value && <Health receiver={value} />}
      </Head>
      {error !== undefined && <ErrorNote error={error} />}
      <Loaded of={read}>
        {(receiver) => (
          <>
            {receiver.reason && (
              <div class={`note ${receiver.state === 'paused' ? 'warning' : 'bad'}`}>
                <Icon name={receiver.state === 'paused' ? 'pause' : 'warning'} />
                <span class="detail">{receiver.reason}</span>
              </div>
            )}
            <Facts org={org} receiver={receiver} onChange={reload} onError={setError} />
            <Boundary>
              <section>
                <div class="part-head">
                  <h2>{texts.receiver.deliveries}</h2>
                  <div class="row">
                    <a href={`/orgs/${org}/deliveries?receiver=${id}&state=failed`}>
                      {texts.receiver.failedOnes}
                    </a>
                    <a href={`/orgs/${org}/deliveries?receiver=${id}`}>{texts.receiver.allDeliveries}</a>
                  </div>
                </div>
                <Loaded
                  of={deliveries}
                  isEmpty={({ items }) => items.length === 0}
                  empty={<p>{texts.receiver.noDeliveries}</p>}
                >
                  {({ items }) => <DeliveryTable org={org} rows={items} />}
                </Loaded>
              </section>
            </Boundary>
            <section>
              <h2>{texts.receiver.days}</h2>
              {receiver.days.length === 0 ? (
                <p class="muted">{texts.receiver.noDays}</p>
              ) : (
                <Days days={receiver.days} />
              )}
            </section>
          </>
        )}
      </Loaded>
    </>
  )
}

/** An address may be long, and mostly its host says enough. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)

function Facts({ org, receiver, ...ofActions }: { org: string; receiver: ReceiverWithCounts } & OfActions) {
  const { id, url, installation, signedBy, ordered, pending, createdAt } = receiver
  const isNone = pending.due === 0 && pending.waiting === 0 && pending.oldestAt === undefined
  return (
    <dl class="facts">
      <dt>{texts.receiver.facts.address}</dt>
      <dd>
        <code>{url}</code>
      </dd>
      <dt>{texts.receiver.facts.pending}</dt>
      <dd>{isNone ? texts.receiver.noPending : texts.receiver.pending(pending.due, pending.waiting)}</dd>
      {pending.oldestAt !== undefined && (
        <>
          <dt>{texts.receiver.facts.oldest}</dt>
          <dd>
            <Time at={pending.oldestAt} />
          </dd>
        </>
      )}
      <dt>{texts.receiver.facts.order}</dt>
      <dd class="row">
        {ordered ? texts.receiver.orderKept : texts.receiver.orderDropped}
        <OrderAction receiver={receiver} {...ofActions} />
      </dd>
      <dt>{texts.receiver.facts.installation}</dt>
      <dd>
        <InstallationLink org={org} id={installation} />
      </dd>
      <dt>{texts.receiver.facts.signedBy}</dt>
      <dd>
        <code>{signedBy}</code>
      </dd>
      <dt>{texts.receiver.facts.created}</dt>
      <dd>
        <Time at={createdAt} />
      </dd>
      <dt>{texts.receiver.facts.id}</dt>
      <dd>
        <Id value={id} />
      </dd>
    </dl>
  )
}

const count = (value: number) => value.toLocaleString('en')

const Days = ({ days }: { days: readonly DayCounts[] }) => (
  <Table
    label={texts.receiver.days}
    rows={days}
    keyOf={({ day }) => day}
    columns={[
      { title: texts.receiver.dayColumns.day, kind: 'nowrap', cell: ({ day }) => day },
      { title: texts.receiver.dayColumns.delivered, cell: ({ delivered }) => count(delivered) },
      { title: texts.receiver.dayColumns.failed, cell: ({ failed }) => count(failed) },
      { title: texts.receiver.dayColumns.attempts, cell: ({ attempts }) => count(attempts) },
    ]}
  />
)
