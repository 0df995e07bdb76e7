import { useRoute } from 'preact-iso'
import { api } from '../api.ts'
import { Chip } from '../parts/chip.tsx'
import { CopyButton, Id } from '../parts/copy.tsx'
import { Head } from '../parts/head.tsx'
import { Loaded } from '../parts/state.tsx'
import { Time } from '../parts/time.tsx'
import { texts } from '../texts.ts'
import { useLoad } from '../use-load.ts'

export default function InstallationPage() {
  const { org = '', installation = '' } = useRoute().params
  const read = useLoad(
    `installation ${org} ${installation}`,
    (signal) => api.call('GET /v1/installations/{installation}', { params: { installation }, signal }),
    3_000,
  )
  const { value } = read
  return (
    <>
      <Head
        title={texts.installation.title(value?.integration ?? '')}
        crumbs={[{ label: org, href: `/orgs/${org}` }, { label: value?.integration ?? installation }]}
        state={value && <Chip state={value.status} />}
      >
        {value?.statusReason}
      </Head>
      <Loaded of={read}>
        {({ id, integration, createdAt, urls }) => (
          <>
            <dl class="facts">
              <dt>{texts.installation.id}</dt>
              <dd>
                <Id value={id} />
              </dd>
              <dt>{texts.installation.endpoint}</dt>
              <dd>
                <code>{urls.publicEndpoint}</code>{' '}
                <CopyButton text={urls.publicEndpoint} label={texts.copy(urls.publicEndpoint)} />
              </dd>
              <dt>{texts.installation.created}</dt>
              <dd>
                <Time at={createdAt} />
              </dd>
            </dl>
            <p>
              <a href={`/orgs/${org}/deliveries?installation=${id}`}>{texts.installation.deliveries}</a>
            </p>
            <section>
              <p class="muted">{texts.installation.what}</p>
              <pre>{`npx annex configure ${integration} --org ${org}`}</pre>
            </section>
          </>
        )}
      </Loaded>
    </>
  )
}
