import { useState } from 'preact/hooks'
import type { Job } from '../../../../../schemas/generated/api/jobs.ts'
import { api } from '../../api.ts'
import { Action } from '../../parts/action.tsx'
import { Cancel } from '../../parts/cancel.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { failedWorkTexts as texts } from '../../texts/failed-work.ts'

/** What a person does with failed work. */
export function JobActions({
  job,
  kind = '',
  attempt,
  onDone,
}: {
  job: Job
  kind?: string
  attempt: (act: () => Promise<unknown>) => Promise<void>
  onDone: (did: 'run' | 'discard') => void
}) {
  const [isAsking, setIsAsking] = useState(false)
  const params = { job: job.id }
  const run = () =>
    attempt(async () => {
      await api.call('POST /v1/jobs/{job}/run', { params })
      sayDone(texts.runAgain)
      onDone('run')
    })
  const discard = async () => {
    await api.call('DELETE /v1/jobs/{job}', { params })
    sayDone(texts.discarded)
    setIsAsking(false)
    onDone('discard')
  }
  const what = <span class="visually-hidden"> {nameOf(job)}</span>
  return (
    <>
      <Action kind={kind} act={run} reason={reasonAgainst('runJob')}>
        {texts.run}
        {what}
      </Action>
      <Action
        kind={kind === 'main' ? '' : kind}
        act={() => setIsAsking(true)}
        reason={reasonAgainst('discardJob')}
      >
        {texts.discard}
        {what}
      </Action>
      {isAsking && (
        <Dialog title={texts.discardTitle(nameOf(job))} onClose={() => setIsAsking(false)}>
          <Form submit={discard} label={texts.discardAction} kind="bad">
            <p>{texts.discardWhat}</p>
          </Form>
          <Cancel act={() => setIsAsking(false)} />
        </Dialog>
      )}
    </>
  )
}

/** The type of an event. Tasks have no names. */
export const nameOf = ({ kind, event }: Job): string =>
  kind === 'event' ? event.type : `${texts.kinds.task} …${event.id.slice(-6)}`
