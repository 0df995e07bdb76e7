import type {
  Attempt,
  DeliveryWithAttempts,
  HeaderList,
} from '../../../../schemas/generated/api/deliveries.ts'
import { texts } from '../texts.ts'
import { Id } from './copy.tsx'
import { Time } from './time.tsx'

/** A vertical line from the event to the end of the delivery. */
export function Timeline({ delivery }: { delivery: DeliveryWithAttempts }) {
  const { event, createdAt, attemptList, state, nextAttemptAt, finishedAt, reason, body } = delivery
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
        {body !== undefined && (
          <details>
            <summary>{texts.delivery.body}</summary>
            <pre>{toPretty(body)}</pre>
          </details>
        )}
      </li>
      {attemptList.map((attempt) => (
        <AttemptItem key={attempt.id} attempt={attempt} url={delivery.url} />
      ))}
      <li class={state === 'delivered' ? 'good' : state === 'failed' ? 'bad' : ''}>
        <div class="row">
          <strong>{texts.delivery.end[state]}</strong>
          {nextAttemptAt && <Time at={nextAttemptAt} />}
          {finishedAt && <Time at={finishedAt} />}
        </div>
        {reason && <p>{reason}</p>}
      </li>
    </ol>
  )
}

function AttemptItem({ attempt, url }: { attempt: Attempt; url: string }) {
  const { number, outcome, startedAt, durationMs, request, response, error } = attempt
  return (
    <li class={outcome === 'delivered' ? 'good' : 'bad'}>
      <div class="row">
        <strong>{texts.delivery.attempt(number)}</strong>
        <Time at={startedAt} />
      </div>
      <code>POST {url}</code>
      {response && <p>{texts.delivery.answered(response.status, durationMs)}</p>}
      {error && <p>{texts.delivery.failed(error.message, durationMs)}</p>}
      <details>
        <summary>{texts.delivery.asSent}</summary>
        <Headers list={request.headers} />
      </details>
      {response && (
        <details>
          <summary>{texts.delivery.answer}</summary>
          <Headers list={response.headers} />
          <pre>{response.body || texts.delivery.empty}</pre>
        </details>
      )}
    </li>
  )
}

const Headers = ({ list }: { list: HeaderList }) => (
  <pre>{list.map(([name, value]) => `${name}: ${value}`).join('\n') || texts.delivery.empty}</pre>
)

function toPretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
