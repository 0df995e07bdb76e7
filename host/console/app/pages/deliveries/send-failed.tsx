import { useState } from 'preact/hooks'
import type { SentFailed } from '../../../../../schemas/generated/api/deliveries.ts'
import { api } from '../../api.ts'
import { type Filter, isFiltered, toQuery } from '../../deliveries/filter.ts'
import { Action } from '../../parts/action.tsx'
import { useAttempt } from '../../parts/attempt.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Choice } from '../../parts/field.tsx'
import { Loaded } from '../../parts/state.tsx'
import { sayDone } from '../../state.ts'
import { texts } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'

const hour = 3_600_000
const periods = { hour, day: 24 * hour, week: 7 * 24 * hour, month: 30 * 24 * hour }
type Period = keyof typeof periods

/** Counts what has failed since a time, and then sends it again. */
export function SendFailed({
  org,
  filter,
  onClose,
  onSent,
}: {
  org: string
  /** Of the page: event type, installation and receiver alone. */
  filter: Filter
  onClose: () => void
  onSent: () => void
}) {
  const [openedMs] = useState(Date.now())
  const [period, setPeriod] = useState<Period>('day')
  const { error, attempt } = useAttempt()
  const body = {
    organization: org,
    since: new Date(openedMs - periods[period]).toISOString(),
    ...toQuery(filter, openedMs),
  }
  const counted = useLoad(`failed ${period}`, (signal) =>
    api.call('POST /v1/deliveries/send-failed', { body: { ...body, dryRun: true }, signal }),
  )
  const send = () =>
    attempt(async () => {
      const { count, left } = await api.call('POST /v1/deliveries/send-failed', { body })
      sayDone(`${texts.sendFailed.sent(count)} ${left ? texts.sendFailed.left(left) : ''}`)
      onSent()
      onClose()
    })
  return (
    <Dialog title={texts.sendFailed.title} onClose={onClose}>
      <Choice
        label={texts.sendFailed.since}
        value={period}
        options={Object.entries(texts.sendFailed.periods).map(([value, label]) => ({ value, label }))}
        onValue={(value) => setPeriod(value as Period)}
      />
      {isFiltered(filter) && <p class="muted">{texts.sendFailed.filtered}</p>}
      <Loaded of={counted}>{(counts) => <Counts counts={counts} />}</Loaded>
      {error !== undefined && <ErrorNote error={error} />}
      <div class="row">
        {counted.value !== undefined && counted.value.count > 0 && (
          <Action kind="main" act={send}>
            {texts.sendFailed.send(counted.value.count)}
          </Action>
        )}
        <button type="button" onClick={onClose}>
          {texts.sendFailed.close}
        </button>
      </div>
    </Dialog>
  )
}

const Counts = ({ counts: { count, disabled } }: { counts: SentFailed }) => (
  <>
    <p role="status">{count === 0 ? texts.sendFailed.none : texts.sendFailed.count(count)}</p>
    {disabled > 0 && <p>{texts.sendFailed.disabled(disabled)}</p>}
    {count > 0 && <p class="muted">{texts.sendFailed.rate}</p>}
  </>
)
