import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { ReceiverWithCounts } from '../../../../../schemas/generated/api/receivers.ts'
import { api } from '../../api.ts'
import { Action } from '../../parts/action.tsx'
import { Cancel } from '../../parts/cancel.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { reasonAgainst } from '../../person.ts'
import { organizationInAddress, sayDone } from '../../state.ts'
import { texts } from '../../texts.ts'

export type OfActions = { onChange: () => void; onError: (error: unknown) => void }
type Given = { receiver: ReceiverWithCounts } & OfActions

/** What a person can do with a receiver in its state. */
export function ReceiverActions({ receiver, onChange, onError }: Given) {
  const { route } = useLocation()
  const [isPausing, setIsPausing] = useState(false)
  const { id, state, heldBackUntil } = receiver
  const params = { receiver: id }
  const isResumable = state !== 'active' || heldBackUntil !== undefined
  const acting = toActing({ onChange, onError })
  const resume = acting(async () => {
    await api.call('POST /v1/receivers/{receiver}/resume', { params })
    sayDone(texts.receiver.resumed)
  })
  const sendExample = acting(async () => {
    const { id } = await api.call('POST /v1/receivers/{receiver}/example', { params })
    sayDone(texts.receiver.exampleSent)
    route(`/orgs/${organizationInAddress()}/deliveries/${id}`)
  })
  const pause = async (reason: string) => {
    await api.call('POST /v1/receivers/{receiver}/pause', { params, body: reason === '' ? {} : { reason } })
    sayDone(texts.receiver.paused)
    setIsPausing(false)
    onChange()
  }
  return (
    <>
      {isResumable && (
        <Action kind="main" act={resume} reason={reasonAgainst('resumeReceiver')}>
          {texts.receiver.resume}
        </Action>
      )}
      {state === 'active' && (
        <Action act={() => setIsPausing(true)} reason={reasonAgainst('pauseReceiver')}>
          {texts.receiver.pause}
        </Action>
      )}
      <Action
        act={sendExample}
        reason={
          reasonAgainst('sendExampleEvent') ?? (state === 'disabled' ? texts.receiver.isDisabled : undefined)
        }
      >
        {texts.receiver.example}
      </Action>
      {isPausing && <Pause pause={pause} onClose={() => setIsPausing(false)} />}
    </>
  )
}

export function OrderAction({ receiver: { id, ordered }, ...ofActions }: Given) {
  const order = toActing(ofActions)(async () => {
    await api.call('PATCH /v1/receivers/{receiver}', {
      params: { receiver: id },
      body: { ordered: !ordered },
    })
    sayDone(ordered ? texts.receiver.orderDropped : texts.receiver.orderKept)
  })
  return (
    <Action kind="plain" act={order} reason={reasonAgainst('updateReceiver')}>
      {ordered ? texts.receiver.dropOrder : texts.receiver.keepOrder}
    </Action>
  )
}

const toActing =
  ({ onChange, onError }: OfActions) =>
  (act: () => Promise<void>) =>
  async () => {
    onError(undefined)
    try {
      await act()
      onChange()
    } catch (error) {
      onError(error)
    }
  }

function Pause({ pause, onClose }: { pause: (reason: string) => Promise<void>; onClose: () => void }) {
  const [reason, setReason] = useState('')
  return (
    <Dialog title={texts.receiver.pauseTitle} onClose={onClose}>
      <p>{texts.receiver.pauseWhat}</p>
      <Form submit={() => pause(reason.trim())} label={texts.receiver.pauseAction}>
        <Field label={texts.receiver.pauseReason} value={reason} onValue={setReason} />
      </Form>
      <Cancel act={onClose} />
    </Dialog>
  )
}
