import { useRoute } from 'preact-iso'
import type { DeliveryWithAttempts } from '../../../../../schemas/generated/api/deliveries.ts'
import type { ReceiverWithCounts } from '../../../../../schemas/generated/api/receivers.ts'
import { api } from '../../api.ts'
import { useLive } from '../../live.ts'
import { Action } from '../../parts/action.tsx'
import { useAttempt } from '../../parts/attempt.ts'
import { Chip } from '../../parts/chip.tsx'
import { Id } from '../../parts/copy.tsx'
import { pathOfDispatch } from '../../parts/dispatch-link.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { InstallationLink } from '../../parts/installation-link.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Timeline } from '../../parts/timeline.tsx'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { dispatchTexts } from '../../texts/dispatches.ts'
import { texts } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'
import { AsSent } from './as-sent.tsx'

type Both = { delivery: DeliveryWithAttempts; receiver: ReceiverWithCounts | undefined }

/** One delivery, from its event to its end, and the request as it was sent. */
export default function DeliveryPage() {
  const { org = '', delivery: id = '' } = useRoute().params
  const { error, attempt } = useAttempt()
  const read = useLoad(`delivery ${org} ${id}`, async (signal): Promise<Both> => {
    const delivery = await api.call('GET /v1/deliveries/{delivery}', { params: { delivery: id }, signal })
    // It goes with its installation, while the delivery stays for its retention.
    const receiver = await api
      .call('GET /v1/receivers/{receiver}', { params: { receiver: delivery.receiver }, signal })
      .catch(() => undefined)
    return { delivery, receiver }
  })
  const { delivery, receiver } = read.value ?? {}
  useLive(org, read.reload, (change) => change.delivery === id || change.receiver === delivery?.receiver)
  const send = () =>
    attempt(async () => {
      await api.call('POST /v1/deliveries/{delivery}/send', { params: { delivery: id } })
      sayDone(texts.delivery.sentAgain)
      read.reload()
    })
  const type = delivery?.event.type ?? ''
  return (
    <>
      <Head
        title={delivery ? texts.delivery.title(type) : texts.deliveries.title}
        crumbs={[
          { label: org, href: `/orgs/${org}` },
          { label: texts.deliveries.title, href: `/orgs/${org}/deliveries` },
          { label: type || id },
        ]}
        state={delivery && <Chip state={delivery.state} />}
        actions={
          delivery && (
            <Action
              act={send}
              kind={delivery.state === 'failed' ? 'main' : ''}
              reason={reasonNotToSend(receiver)}
            >
              {delivery.state === 'pending' ? texts.delivery.sendNow : texts.delivery.sendAgain}
            </Action>
          )
        }
      />
      {error !== undefined && <ErrorNote error={error} />}
      <Loaded of={read}>
        {({ delivery, receiver }) => (
          <>
            <Facts org={org} delivery={delivery} />
            {receiver && receiver.state !== 'active' && <Stopped org={org} receiver={receiver} />}
            <section>
              <Timeline delivery={delivery} isPaused={receiver?.state === 'paused'} />
            </section>
            <AsSent delivery={delivery} />
          </>
        )}
      </Loaded>
    </>
  )
}

const reasonNotToSend = (receiver: ReceiverWithCounts | undefined): string | undefined =>
  reasonAgainst('sendDelivery') ??
  (receiver?.state === 'disabled'
    ? texts.receiver.isDisabled
    : receiver?.state === 'paused'
      ? texts.receiver.isPaused
      : undefined)

const Facts = ({
  org,
  delivery: { id, url, receiver, installation, request, event },
}: {
  org: string
  delivery: DeliveryWithAttempts
}) => (
  <dl class="facts">
    <dt>{texts.delivery.to}</dt>
    <dd>
      <a href={`/orgs/${org}/receivers/${receiver}`}>
        <code>{url}</code>
      </a>
    </dd>
    <dt>{texts.delivery.installation}</dt>
    <dd>
      <InstallationLink org={org} id={installation} />
    </dd>
    <dt>{dispatchTexts.fromDelivery.event}</dt>
    <dd class="row">
      <Id value={event.id} />
      <a href={`/orgs/${org}/dispatches?event=${encodeURIComponent(event.id)}`}>
        {dispatchTexts.fromDelivery.runs}
      </a>
    </dd>
    {request !== undefined && (
      <>
        <dt>{dispatchTexts.fromDelivery.made}</dt>
        <dd class="row">
          <a href={pathOfDispatch(org, request)}>{dispatchTexts.fromDelivery.dispatch}</a>
          <Id value={request} />
        </dd>
      </>
    )}
    <dt>{texts.delivery.id}</dt>
    <dd>
      <Id value={id} />
    </dd>
  </dl>
)

/** Why nothing is sent, and where that is changed. */
const Stopped = ({ org, receiver: { id, state, reason } }: { org: string; receiver: ReceiverWithCounts }) => (
  <div class={`note ${state === 'paused' ? 'warning' : 'bad'}`}>
    <Icon name={state === 'paused' ? 'pause' : 'warning'} />
    <div>
      <strong class="detail">{texts.delivery.stopped[state === 'paused' ? 'paused' : 'disabled']}</strong>
      {reason && <span class="detail">{reason}</span>}
      <a href={`/orgs/${org}/receivers/${id}`}>{texts.delivery.openReceiver}</a>
    </div>
  </div>
)
