import { useEffect } from 'preact/hooks'
import type { PublishReceipt } from '../../../../../schemas/generated/api/events.ts'
import { api } from '../../api.ts'
import { Chip } from '../../parts/chip.tsx'
import { Icon } from '../../parts/icon.tsx'
import { SignatureNote } from '../../parts/signature-note.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Timeline } from '../../parts/timeline.tsx'
import { texts } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'

/** From the published event to its delivery, as it happens. */
export function Arrival({
  org,
  receipt,
  secret,
  onArrived,
}: {
  org: string
  receipt: PublishReceipt
  secret: string | undefined
  onArrived: () => void
}) {
  const { eventId, installations, skipped = [] } = receipt
  const read = useLoad(
    `arrival ${eventId}`,
    async (signal) => {
      const { items } = await api.call('GET /v1/deliveries', { query: { event: eventId, limit: 1 }, signal })
      const [first] = items
      if (first === undefined) return null
      return api.call('GET /v1/deliveries/{delivery}', { params: { delivery: first.id }, signal })
    },
    500,
  )
  const isDelivered = read.value?.state === 'delivered'
  useEffect(() => {
    if (isDelivered) onArrived()
  }, [isDelivered])
  if (installations === 0) {
    return (
      <div class="note warning">
        <Icon name="warning" />
        <div>
          {texts.firstSteps.skipped}
          {skipped.map(({ installation, message }) => (
            <span class="detail" key={installation}>
              {message}
            </span>
          ))}
        </div>
      </div>
    )
  }
  return (
    <Loaded of={read}>
      {(delivery) =>
        delivery === null ? (
          <p class="muted" role="status">
            {texts.firstSteps.waiting}
          </p>
        ) : (
          <>
            <div class="row" role="status">
              <Chip state={delivery.state} />
              <a href={`/orgs/${org}/deliveries/${delivery.id}`}>{texts.firstSteps.open}</a>
            </div>
            {secret !== undefined && <SignatureNote delivery={delivery} secret={secret} />}
            <div class="wide">
              <Timeline delivery={delivery} />
            </div>
          </>
        )
      }
    </Loaded>
  )
}
