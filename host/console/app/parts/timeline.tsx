import { useState } from 'preact/hooks'
import type { DeliveryWithAttempts, HeaderList } from '../../../../schemas/generated/api/deliveries.ts'
import { endOf, type Step, toHistory, toReason } from '../deliveries/history.ts'
import { texts } from '../texts.ts'
import { Id } from './copy.tsx'
import { Countdown } from './countdown.tsx'
import { PhaseBar } from './phase-bar.tsx'
import { Time } from './time.tsx'

/** A vertical line from the event to the end of the delivery. */
export function Timeline({
  delivery,
  isPaused = false,
}: {
  delivery: DeliveryWithAttempts
  isPaused?: boolean
}) {
  const { event, createdAt, attemptList, url } = delivery
  const [isWhole, setIsWhole] = useState(false)
  const { first, hidden, last } = toHistory(attemptList)
  const longestMs = Math.max(...attemptList.map(({ durationMs }) => durationMs))
  const toItem = (step: Step) => <AttemptItem key={step.attempt.id} {...{ step, url, longestMs }} />
  return (
    <ol class="line">
      <li>
        <div class="row">
          <strong>{texts.delivery.event}</strong>
          <code>{event.type}</code>
          <Id value={event.id} />
        </div>
      </li>
      <li>
        <div class="row">
          <strong>{texts.delivery.queued}</strong>
          <Time at={createdAt} />
        </div>
      </li>
      {first.map(toItem)}
      {hidden.length > 0 && !isWhole && (
        <li>
          <div>
            <button type="button" onClick={() => setIsWhole(true)}>
              {texts.delivery.more(hidden.length)}
            </button>
          </div>
        </li>
      )}
      {isWhole && hidden.map(toItem)}
      {last.map(toItem)}
      <EndItem delivery={delivery} isPaused={isPaused} />
    </ol>
  )
}

/** Three lines on a wide screen. */
const excerptLength = 300

function AttemptItem({ step, url, longestMs }: { step: Step; url: string; longestMs: number }) {
  const { attempt, meaning, waitMs, retryAfter } = step
  const { number, outcome, startedAt, response, error } = attempt
  const sentences = [
    response && texts.delivery.answered(response.status),
    // An interrupted attempt has no fault of its own.
    outcome !== 'interrupted' && error?.message,
    texts.delivery.meanings[meaning],
    retryAfter !== undefined && meaning === 'retry' && texts.delivery.asked(retryAfter),
    waitMs !== undefined && texts.delivery.again(toWait(waitMs)),
  ]
  return (
    <li class={outcome === 'delivered' ? 'good' : outcome === 'interrupted' ? '' : 'bad'}>
      <div class="row">
        <strong>{texts.delivery.attempt(number)}</strong>
        <Time at={startedAt} />
      </div>
      <p class="clip-line" title={url}>
        <code>POST {url}</code>
      </p>
      <p>{sentences.filter(Boolean).join(' ')}</p>
      {response && outcome !== 'delivered' && response.body.trim() !== '' && (
        <code class="excerpt">{response.body.trim().slice(0, excerptLength)}</code>
      )}
      <PhaseBar attempt={attempt} longestMs={longestMs} />
      {response && (
        <details>
          <summary>{texts.delivery.answer}</summary>
          <Headers list={response.headers} />
          <pre class="answer">{response.body || texts.delivery.empty}</pre>
          <p class="until">{texts.delivery.answerStart}</p>
        </details>
      )}
    </li>
  )
}

function EndItem({ delivery, isPaused }: { delivery: DeliveryWithAttempts; isPaused: boolean }) {
  const { state, attempts, attemptList, nextAttemptAt, finishedAt, reason } = delivery
  const end = endOf(delivery, Date.now())
  const { code, said } = toReason(reason ?? '', attemptList.at(-1))
  const known = Object.entries(texts.delivery.reasons).find(([name]) => name === code)?.[1]
  return (
    <li class={state === 'delivered' ? 'good' : state === 'failed' ? 'bad' : 'now'}>
      <div class="row">
        {end === 'waiting' && nextAttemptAt ? (
          <strong>
            {texts.delivery.end.waiting(attempts + 1)} <Countdown to={nextAttemptAt} />
          </strong>
        ) : (
          <strong>{toEnd()}</strong>
        )}
        {finishedAt && <Time at={finishedAt} />}
      </div>
      {reason !== undefined && <p>{[known, said].filter(Boolean).join(' ')}</p>}
    </li>
  )

  function toEnd(): string {
    if (end === 'delivered' || end === 'failed') return texts.delivery.end[end]
    if (end === 'sending') return isPaused ? texts.delivery.end.paused : texts.delivery.end.sending
    return texts.delivery.end.due(attempts + 1)
  }
}

/** `1.5 s`, `2 minutes`: an exact number where it is short. */
function toWait(ms: number): string {
  if (ms < 60_000) return `${(ms / 1_000).toLocaleString('en', { maximumFractionDigits: 1 })} s`
  const minutes = Math.round(ms / 60_000)
  if (minutes < 120) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`
}

export const Headers = ({ list }: { list: HeaderList }) => (
  <pre>{list.map(([name, value]) => `${name}: ${value}`).join('\n') || texts.delivery.empty}</pre>
)
