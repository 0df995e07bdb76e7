import { useRoute } from 'preact-iso'
import type { Problem } from '../../../../../schemas/generated/api/problems.ts'
import { api } from '../../api.ts'
import { Boundary } from '../../parts/boundary.tsx'
import { Chip } from '../../parts/chip.tsx'
import { DeliveryTable } from '../../parts/delivery-table.tsx'
import { Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { texts } from '../../texts.ts'
import { type Load, useLoad } from '../../use-load.ts'
import { FirstSteps } from './first-steps.tsx'

const everyMs = 5_000

/** One sentence of state, what needs a person, and what runs. */
export default function OverviewPage() {
  const { org = '' } = useRoute().params
  const organization = useLoad(`organization ${org}`, (signal) =>
    api.call('GET /v1/orgs/{org}', { params: { org }, signal }),
  )
  const problems = useLoad(
    `problems ${org}`,
    async (signal) => {
      const { items } = await api.call('GET /v1/problems', { signal })
      // An operator is told of all organizations, and of the host.
      return items.filter((one) => one.organization === null || isOf(one, org))
    },
    everyMs,
  )
  const installations = useLoad(
    `installations ${org}`,
    (signal) => api.call('GET /v1/installations', { query: { organization: org, limit: 100 }, signal }),
    everyMs,
  )
  const deliveries = useLoad(
    `last deliveries ${org}`,
    (signal) => api.call('GET /v1/deliveries', { query: { organization: org, limit: 5 }, signal }),
    everyMs,
  )
  return (
    <>
      <Head
        title={organization.value?.title ?? org}
        count={problems.value?.length ?? 0}
        crumbs={[{ label: org }, { label: texts.overview.title }]}
      />
      {problems.value && installations.value && (
        <Sentence problems={problems.value.length} installations={installations.value.items.length} />
      )}
      <Loaded of={organization}>
        {() => (
          <>
            <Boundary>
              <Problems of={problems} />
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
              <section>
                <h2>{texts.overview.installations}</h2>
                <Loaded
                  of={installations}
                  isEmpty={({ items }) => items.length === 0}
                  empty={<p>{texts.overview.noInstallations}</p>}
                >
                  {({ items }) => (
                    <Table
                      label={texts.overview.installations}
                      rows={items}
                      keyOf={({ id }) => id}
                      columns={[
                        {
                          title: texts.overview.columns.state,
                          kind: 'nowrap',
                          cell: ({ status }) => <Chip state={status} />,
                        },
                        {
                          title: texts.overview.columns.integration,
                          kind: 'nowrap',
                          cell: ({ id, integration }) => (
                            <a href={`/orgs/${org}/installations/${id}`}>{integration}</a>
                          ),
                        },
                        {
                          title: texts.overview.columns.why,
                          kind: 'wide-cell',
                          cell: ({ statusReason }) => statusReason ?? '',
                        },
                        {
                          title: texts.overview.columns.since,
                          kind: 'nowrap',
                          cell: ({ updatedAt }) => <Time at={updatedAt} />,
                        },
                      ]}
                    />
                  )}
                </Loaded>
              </section>
            </Boundary>
            <Boundary>
              <section>
                <div class="part-head">
                  <h2>{texts.overview.deliveries}</h2>
                  <a href={`/orgs/${org}/deliveries`}>{texts.overview.allDeliveries}</a>
                </div>
                <Loaded
                  of={deliveries}
                  isEmpty={({ items }) => items.length === 0}
                  empty={<p>{texts.overview.noDeliveries}</p>}
                >
                  {({ items }) => <DeliveryTable org={org} rows={items} />}
                </Loaded>
              </section>
            </Boundary>
          </>
        )}
      </Loaded>
    </>
  )
}

const isOf = ({ organization, organizationSubdomain }: Problem, org: string): boolean =>
  organization === org || organizationSubdomain === org

function Sentence({ problems, installations }: { problems: number; installations: number }) {
  if (problems > 0) {
    return (
      <p class="sentence bad">
        <Icon name="warning" />
        {texts.overview.needs(problems)}
      </p>
    )
  }
  if (installations === 0) return <p class="sentence muted">{texts.overview.nothing}</p>
  return (
    <p class="sentence good">
      <Icon name="check" />
      {texts.overview.works(installations)}
    </p>
  )
}

function Problems({ of }: { of: Load<Problem[]> }) {
  return (
    <Loaded of={of}>
      {(items) =>
        items.length > 0 && (
          <section>
            <h2>{texts.overview.problems}</h2>
            {items.map((problem) => (
              <div class="note bad" key={`${problem.kind} ${problem.subject.id}`}>
                <Icon name="warning" />
                <div>
                  <strong class="detail">{problem.sentence}</strong>
                  <span class="detail small">
                    {texts.overview.since} <Time at={problem.since} />
                  </span>
                  <span class="detail small">{texts.overview.run}</span>
                  <pre class="detail">{problem.fix}</pre>
                </div>
              </div>
            ))}
          </section>
        )
      }
    </Loaded>
  )
}
