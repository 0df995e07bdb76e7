import { api } from '../../api.ts'
import type { ReadLevel } from '../../level.ts'
import { Chip } from '../../parts/chip.tsx'
import { CopyButton, Id } from '../../parts/copy.tsx'
import { pathOfDispatch } from '../../parts/dispatch-link.tsx'
import { Time } from '../../parts/time.tsx'
import { installationTexts } from '../../texts/installation.ts'
import { texts as general } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'

const texts = installationTexts.now
const everyMs = 5_000

/** What happens now: the addresses, the last event and the last delivery. */
export function Now({ read }: { read: ReadLevel }) {
  const { account, level, form, name } = read
  const { id } = account
  const run = useLoad(
    `last run ${id}`,
    (signal) => api.call('GET /v1/receipts', { query: { installation: id, limit: 1 }, signal }),
    everyMs,
  )
  const delivery = useLoad(
    `last delivery ${id}`,
    (signal) => api.call('GET /v1/deliveries', { query: { installation: id, limit: 1 }, signal }),
    everyMs,
  )
  const lastRun = run.value?.items[0]
  const last = delivery.value?.items[0]
  const { urls } = level
  return (
    <section class="card">
      <h2>{texts.title}</h2>
      <dl class="stacked">
        <dt>{texts.endpoint}</dt>
        <Address url={urls.publicEndpoint} />
        {'publishedScript' in urls && urls.publishedScript !== undefined && (
          <>
            <dt>{texts.scriptUrl}</dt>
            <Address url={urls.publishedScript} />
          </>
        )}
        {'visitorAuthentication' in urls && urls.visitorAuthentication !== undefined && (
          <>
            <dt>{texts.signInUrl}</dt>
            <Address url={urls.visitorAuthentication} />
          </>
        )}
        <dt>{texts.lastRun}</dt>
        <dd>
          {lastRun === undefined ? (
            run.value && texts.noRun
          ) : (
            <>
              <a href={pathOfDispatch(name.org, lastRun.request)}>
                {lastRun.outcome === 'ok'
                  ? texts.run(lastRun.type, Math.round(lastRun.wallMs))
                  : texts.runFailed(lastRun.type, lastRun.outcome)}
              </a>
              <br />
              <Time at={lastRun.startedAt} />
            </>
          )}
        </dd>
        <dt>{texts.lastDelivery}</dt>
        <dd>
          {last === undefined ? (
            delivery.value && texts.noDelivery
          ) : (
            <span class="row">
              <Chip state={last.state} />
              <a href={`/orgs/${name.org}/deliveries/${last.id}`}>{last.event.type}</a>
              <Time at={last.createdAt} />
            </span>
          )}
        </dd>
        <dt>{texts.version}</dt>
        <dd>{form.version}</dd>
        <dt>{texts.installed}</dt>
        <dd>
          <Time at={level.createdAt} />
        </dd>
        <dt>{texts.id}</dt>
        <dd>
          <Id value={id} />
        </dd>
      </dl>
      <a href={`/orgs/${name.org}/deliveries?installation=${id}`}>{texts.all}</a>
    </section>
  )
}

const Address = ({ url }: { url: string }) => (
  <dd>
    <code>{url}</code> <CopyButton text={url} label={general.copy(url)} />
  </dd>
)
