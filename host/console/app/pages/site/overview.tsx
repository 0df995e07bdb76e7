import type { Site } from '../../../../../schemas/generated/api/sites.ts'
import { api } from '../../api.ts'
import { Boundary } from '../../parts/boundary.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Id } from '../../parts/copy.tsx'
import { OutsideLink } from '../../parts/outside-link.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { placeTexts } from '../../texts/places.ts'
import { useLoad } from '../../use-load.ts'
import { Visits } from './visits.tsx'

const texts = placeTexts.site
const most = 100

export const Overview = ({ org, site }: { org: string; site: Site }) => (
  <>
    <Facts site={site} />
    <Boundary>
      <Installed org={org} site={site.id} />
    </Boundary>
    <Boundary>
      <Visits org={org} site={site.id} />
    </Boundary>
  </>
)

function Facts({ site: { id, slug, urls, visibility, externalIds, createdAt } }: { site: Site }) {
  return (
    <dl class="facts">
      <dt>{texts.facts.published}</dt>
      <dd>
        {urls.published === undefined ? (
          <span class="muted">{placeTexts.unpublished}</span>
        ) : (
          <OutsideLink href={urls.published}>{urls.published}</OutsideLink>
        )}
      </dd>
      <dt>{texts.facts.visibility}</dt>
      <dd>{placeTexts.visibilities[visibility]}</dd>
      <dt>{texts.facts.slug}</dt>
      <dd>
        <code>{slug}</code>
      </dd>
      {externalIds.length > 0 && (
        <>
          <dt>{texts.facts.externalIds}</dt>
          <dd>
            <code>{externalIds.join(', ')}</code>
          </dd>
        </>
      )}
      <dt>{texts.facts.created}</dt>
      <dd>
        <Time at={createdAt} />
      </dd>
      <dt>{texts.facts.id}</dt>
      <dd>
        <Id value={id} />
      </dd>
    </dl>
  )
}

function Installed({ org, site }: { org: string; site: string }) {
  const list = useLoad(`installed in ${org} ${site}`, (signal) =>
    api.call('GET /v1/installations', { query: { organization: org, site, limit: most }, signal }),
  )
  return (
    <section>
      <h2>{texts.installed}</h2>
      <Loaded
        of={list}
        isEmpty={({ items }) => items.length === 0}
        empty={
          <>
            <p>{texts.noInstalled}</p>
            <a href={`/orgs/${org}/integrations`}>{texts.catalogue}</a>
          </>
        }
      >
        {({ items, next }) => (
          <>
            <Table
              label={texts.installed}
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                { title: texts.columns.state, kind: 'nowrap', cell: ({ status }) => <Chip state={status} /> },
                {
                  title: texts.columns.integration,
                  kind: 'wide-cell',
                  cell: ({ id, integration }) => (
                    <a
                      href={`/orgs/${org}/installations/${id}/sites/${site}`}
                      title={texts.openSettings(integration)}
                    >
                      {integration}
                    </a>
                  ),
                },
                {
                  title: texts.columns.since,
                  kind: 'nowrap',
                  cell: ({ updatedAt }) => <Time at={updatedAt} />,
                },
              ]}
            />
            {next && <p class="until">{texts.more}</p>}
          </>
        )}
      </Loaded>
    </section>
  )
}
