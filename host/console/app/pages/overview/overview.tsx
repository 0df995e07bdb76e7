import type { ComponentChildren } from 'preact'
import { useRoute } from 'preact-iso'
import { api } from '../../api.ts'
import { useLive } from '../../live.ts'
import { Boundary } from '../../parts/boundary.tsx'
import { Charts } from '../../parts/charts/charts.tsx'
import { DeliveryTable } from '../../parts/delivery-table.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/state.tsx'
import { problems } from '../../problems.ts'
import { texts } from '../../texts.ts'
import { type Load, useLoad } from '../../use-load.ts'
import { FirstSteps } from './first-steps.tsx'
import { type InstallationList, InstallationSummary, mostRead, toCount } from './installation-summary.tsx'
import { ProblemCards } from './problem-cards.tsx'

const everyMs = 10_000

/** One sentence of state, what needs a person, and what runs. */
export default function OverviewPage() {
  const { org = '' } = useRoute().params
  const organization = useLoad(`organization ${org}`, (signal) =>
    api.call('GET /v1/orgs/{org}', { params: { org }, signal }),
  )
  const installations = useLoad(
    `installations ${org}`,
    (signal) => api.call('GET /v1/installations', { query: { organization: org, limit: mostRead }, signal }),
    everyMs,
  )
  const deliveries = useLoad(`last deliveries ${org}`, (signal) =>
    api.call('GET /v1/deliveries', { query: { organization: org, limit: 5 }, signal }),
  )
  useLive(org, deliveries.reload)
  // The parts do not wait for the title.
  const isRefused = organization.value === undefined && organization.error !== undefined
  const found = problems.value
  const reload = () => {
    found.reload()
    installations.reload()
    deliveries.reload()
  }
  return (
    <>
      <Head
        title={organization.value?.title ?? org}
        crumbs={[{ label: org }, { label: texts.overview.title }]}
      />
      {isRefused ? (
        <ErrorNote error={organization.error} next={{ label: texts.tryAgain, act: organization.reload }} />
      ) : (
        <>
          {found.value?.org === org && installations.value && (
            <Sentence problems={found.value.here.length} installations={installations.value} />
          )}
          <Boundary>
            <Loaded of={found.value?.org === org ? found : { ...found, value: undefined }}>
              {(value) => <ProblemCards problems={value} onMended={reload} />}
            </Loaded>
          </Boundary>
          <Boundary>
            <FirstSteps
              key={org}
              org={org}
              isNew={deliveries.value?.items.length === 0}
              onChange={() => {
                installations.reload()
                deliveries.reload()
              }}
            />
          </Boundary>
          <Boundary>
            <Charts org={org} />
          </Boundary>
          <Part
            title={texts.overview.installations}
            link={{ path: `/orgs/${org}/installations`, label: texts.overview.allInstallations }}
            of={installations}
            empty={
              <>
                <p>{texts.overview.noInstallations}</p>
                <a href={`/orgs/${org}/integrations`}>{texts.overview.toCatalogue}</a>
              </>
            }
          >
            {(list) => <InstallationSummary org={org} list={list} />}
          </Part>
          <Part
            title={texts.overview.deliveries}
            link={{ path: `/orgs/${org}/deliveries`, label: texts.overview.allDeliveries }}
            of={deliveries}
            empty={<p>{texts.overview.noDeliveries}</p>}
          >
            {({ items }) => <DeliveryTable org={org} rows={items} />}
          </Part>
        </>
      )}
    </>
  )
}

/** A part of the page that leads to a whole list. */
function Part<List extends { items: unknown[] }>({
  title,
  link,
  of,
  empty,
  children,
}: {
  title: string
  link: { path: string; label: string }
  of: Load<List>
  empty: ComponentChildren
  children: (list: List) => ComponentChildren
}) {
  return (
    <Boundary>
      <section>
        <div class="part-head">
          <h2>{title}</h2>
          <a href={link.path}>{link.label}</a>
        </div>
        <Loaded of={of} isEmpty={({ items }) => items.length === 0} empty={empty}>
          {children}
        </Loaded>
      </section>
    </Boundary>
  )
}

/** The state of everything, before all else on the page. */
function Sentence({ problems, installations }: { problems: number; installations: InstallationList }) {
  if (problems > 0) {
    return (
      <p class="sentence bad" role="status">
        <Icon name="warning" />
        {texts.overview.needs(problems)}
      </p>
    )
  }
  const { items } = installations
  if (items.length === 0) return <p class="sentence muted">{texts.overview.nothing}</p>
  const active = items.filter(({ status }) => status === 'active').length
  const count = toCount(installations)
  if (active < items.length) {
    return (
      <p class="sentence" role="status">
        <Icon name="note" />
        {texts.overview.worksPartly(active, count)}
      </p>
    )
  }
  return (
    <p class="sentence good" role="status">
      <Icon name="check" />
      {texts.overview.works(count)}
    </p>
  )
}
