import { useRoute } from 'preact-iso'
import type { Integration } from '../../../../../schemas/generated/api/integrations.ts'
import { api } from '../../api.ts'
import type { OwnInstallation } from '../../installed.ts'
import { Boundary } from '../../parts/boundary.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { IntegrationIcon } from '../../parts/integration-icon.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { PermissionList } from '../../parts/permission-list.tsx'
import { Loaded } from '../../parts/state.tsx'
import { readInstallation } from '../../read-installed.ts'
import { texts } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'
import { Facts } from './facts.tsx'
import { Pictures } from './pictures.tsx'
import { Versions } from './versions.tsx'

const words = texts.integration
type Page = NonNullable<Integration['page']>

/** What an integration is, what it can do and cannot do, and the way to its installation. */
export default function IntegrationPage() {
  const { params, query } = useRoute()
  const { org = '', integration: name = '' } = params
  const { installKey } = query
  const read = useLoad(`integration ${org} ${name} ${installKey}`, (signal) =>
    api.call('GET /v1/integrations/{integration}', {
      params: { integration: name },
      query: { installKey },
      signal,
    }),
  )
  const own = useLoad(`installation of ${org} ${name}`, (signal) => readInstallation(org, name, signal))
  const { value } = read
  const key = installKey === undefined ? '' : `?installKey=${encodeURIComponent(installKey)}`
  return (
    <>
      <Head
        title={value?.title ?? name}
        icon={value && <IntegrationIcon title={value.title} icon={value.icon} />}
        crumbs={[
          { label: org, href: `/orgs/${org}` },
          { label: texts.catalogue.title, href: `/orgs/${org}/integrations` },
          { label: value?.title ?? name },
        ]}
        state={
          value &&
          own.value && (
            <Chip state={own.value.agreement.waiting ? 'waiting' : own.value.installation.status} />
          )
        }
        actions={
          value &&
          own.value !== undefined && (
            <Actions
              hasVersion={value.version !== null}
              own={own.value}
              base={`/orgs/${org}`}
              install={`/orgs/${org}/integrations/${encodeURIComponent(value.name)}/install${key}`}
            />
          )
        }
      >
        {value && (
          <>
            <bdi>{value.description}</bdi>
            {value.page && <span class="by small">{words.by(value.page.publishedBy)}</span>}
          </>
        )}
      </Head>
      <Loaded of={read}>
        {(integration) => (
          <div class="beside">
            <div class="stack">
              {integration.version === null && <p class="note warning">{words.noVersion}</p>}
              {integration.page && <About page={integration.page} />}
              <Boundary>
                <Versions integration={integration} installKey={installKey} />
              </Boundary>
            </div>
            <Facts integration={integration} />
          </div>
        )}
      </Loaded>
    </>
  )
}

function Actions({
  hasVersion,
  own,
  base,
  install,
}: {
  hasVersion: boolean
  own: OwnInstallation | null
  base: string
  install: string
}) {
  if (own === null)
    return (
      hasVersion && (
        <a class="button main" href={install}>
          {words.install}
        </a>
      )
    )
  const isWaiting = own.agreement.waiting !== null
  return (
    <>
      <a class={isWaiting ? 'button' : 'button main'} href={`${base}/installations/${own.installation.id}`}>
        {words.open}
      </a>
      <a class={isWaiting ? 'button main' : 'button'} href={isWaiting ? withStep(install) : install}>
        {isWaiting ? words.see : words.installMore}
      </a>
    </>
  )
}

const withStep = (address: string): string => `${address}${address.includes('?') ? '&' : '?'}step=agree`

function About({ page }: { page: Page }) {
  const { previewImages, summaryTree, permissions, limits, publisher } = page
  return (
    <>
      <Boundary>
        <Pictures addresses={previewImages} />
      </Boundary>
      {summaryTree && (
        <section>
          <h2 class="visually-hidden">{words.about}</h2>
          <Markdown tree={summaryTree} />
        </section>
      )}
      <div class="can">
        <section>
          <h2>{words.can}</h2>
          {permissions.length === 0 ? (
            <p class="muted">{words.canNothing}</p>
          ) : (
            <PermissionList permissions={permissions} />
          )}
        </section>
        <section>
          <h2>{words.cannot}</h2>
          <ul class="limits">
            {limits.map((sentence) => (
              <li key={sentence}>
                <Icon name="cross" />
                <span>{sentence}</span>
              </li>
            ))}
          </ul>
        </section>
      </div>
      <p class="muted small">{publisher}</p>
    </>
  )
}
