import { useLocation, useRoute } from 'preact-iso'
import type { Attempt, DeliveryWithAttempts } from '../../../../../schemas/generated/api/deliveries.ts'
import { toExactCurl } from '../../deliveries/curl.ts'
import { CopyButton } from '../../parts/copy.tsx'
import { Choice } from '../../parts/field.tsx'
import { CheckSecret } from '../../parts/signature-note.tsx'
import { texts } from '../../texts.ts'

/** The request of one attempt, byte for byte. The address names another attempt than the newest. */
export function AsSent({ delivery }: { delivery: DeliveryWithAttempts }) {
  const { query } = useRoute()
  const { path, route } = useLocation()
  const { attemptList, body, url } = delivery
  const newest = attemptList.at(-1)
  const attempt = attemptList.find(({ number }) => String(number) === query.attempt) ?? newest
  if (attempt === undefined) return null
  const { headers } = attempt.request
  return (
    <section>
      <div class="part-head">
        <h2>{texts.delivery.asSent}</h2>
        <div class="row">
          {attemptList.length > 1 && (
            <Choice
              isHidden
              label={texts.delivery.asSent}
              value={String(attempt.number)}
              options={attemptList.map(({ number }) => ({
                value: String(number),
                label: texts.delivery.attempt(number),
              }))}
              onValue={(number) =>
                route(number === String(newest?.number) ? path : `${path}?attempt=${number}`, true)
              }
            />
          )}
          {body !== undefined && (
            <CopyButton
              isLabelled
              kind=""
              text={toExactCurl({ url, headers, body })}
              label={texts.delivery.copyCurl}
            />
          )}
        </div>
      </div>
      <Request url={url} attempt={attempt} body={body} />
      {body !== undefined && <CheckSecret key={attempt.id} attempt={attempt} body={body} />}
    </section>
  )
}

function Request({ url, attempt, body }: { url: string; attempt: Attempt; body: string | undefined }) {
  const head = [`POST ${url}`, ...attempt.request.headers.map(([name, value]) => `${name}: ${value}`)]
  return (
    <>
      <pre>{head.join('\n')}</pre>
      {body === undefined ? (
        <p class="muted">{texts.delivery.bodyGone}</p>
      ) : (
        <div class="with-copy">
          <pre class="answer">{body || texts.delivery.empty}</pre>
          <CopyButton text={body} label={texts.delivery.copyBody} />
        </div>
      )}
    </>
  )
}
