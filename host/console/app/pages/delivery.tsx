import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import { api } from '../api.ts'
import { Action } from '../parts/action.tsx'
import { Chip } from '../parts/chip.tsx'
import { Id } from '../parts/copy.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Head } from '../parts/head.tsx'
import { CheckSecret } from '../parts/signature-note.tsx'
import { Loaded } from '../parts/state.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { reasonAgainst } from '../person.ts'
import { sayDone } from '../state.ts'
import { texts } from '../texts.ts'
import { useLoad } from '../use-load.ts'

export default function DeliveryPage() {
  const { org = '', delivery: id = '' } = useRoute().params
  const [error, setError] = useState<unknown>()
  const read = useLoad(
    `delivery ${org} ${id}`,
    (signal) => api.call('GET /v1/deliveries/{delivery}', { params: { delivery: id }, signal }),
    2_000,
  )
  const sendAgain = async () => {
    setError(undefined)
    try {
      await api.call('POST /v1/deliveries/{delivery}/send', { params: { delivery: id } })
      sayDone(texts.delivery.sentAgain)
      read.reload()
    } catch (thrown) {
      setError(thrown)
    }
  }
  const type = read.value?.event.type ?? ''
  return (
    <>
      <Head
        title={texts.delivery.title(type)}
        crumbs={[
          { label: org, href: `/orgs/${org}` },
          { label: texts.deliveries.title, href: `/orgs/${org}/deliveries` },
          { label: type || id },
        ]}
        state={read.value && <Chip state={read.value.state} />}
        actions={
          read.value &&
          read.value.state !== 'pending' && (
            <Action act={sendAgain} reason={reasonAgainst('sendDelivery')}>
              {texts.delivery.sendAgain}
            </Action>
          )
        }
      >
        {read.value && (
          <>
            {texts.delivery.to(read.value.url)} <Id value={read.value.id} />
          </>
        )}
      </Head>
      {error !== undefined && <ErrorNote error={error} />}
      <Loaded of={read}>
        {(delivery) => (
          <>
            <Timeline delivery={delivery} />
            <CheckSecret delivery={delivery} />
          </>
        )}
      </Loaded>
    </>
  )
}
