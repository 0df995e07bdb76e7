import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import type { Site } from '../../../../../schemas/generated/api/sites.ts'
import type { Space } from '../../../../../schemas/generated/api/spaces.ts'
import { api } from '../../api.ts'
import { toSearch } from '../../lists/address.ts'
import { Action } from '../../parts/action.tsx'
import { Head } from '../../parts/head.tsx'
import { OutsideLink } from '../../parts/outside-link.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { reasonAgainst } from '../../person.ts'
import { navigationTexts } from '../../texts/navigation.ts'
import { placeTexts as texts } from '../../texts/places.ts'
import { type Load, useLoad } from '../../use-load.ts'
import { type Kind, MakePlace } from './make-place.tsx'
import { PlaceActions } from './place-actions.tsx'

const pageSize = 100

/** The sites and spaces of the organization. Each list has its own page in the address. */
export default function PlacesPage() {
  const { params, query } = useRoute()
  const { route } = useLocation()
  const { org = '' } = params
  const [making, setMaking] = useState<Kind>()
  const at = (page: string | undefined) => ({ limit: pageSize, ...(page && { page }) })
  const sites = useLoad(`sites ${org} ${query.sites}`, (signal) =>
    api.call('GET /v1/orgs/{org}/sites', { params: { org }, query: at(query.sites), signal }),
  )
  const spaces = useLoad(`spaces ${org} ${query.spaces}`, (signal) =>
    api.call('GET /v1/orgs/{org}/spaces', { params: { org }, query: at(query.spaces), signal }),
  )
  const addressOf = (given: { sites?: string | undefined; spaces?: string | undefined }) =>
    `/orgs/${org}/places${toSearch({ sites: query.sites, spaces: query.spaces, ...given })}`
  return (
    <>
      <Head
        title={navigationTexts.places}
        crumbs={[{ label: org, href: `/orgs/${org}` }, { label: navigationTexts.places }]}
        actions={
          <>
            <Action act={() => setMaking('site')} reason={reasonAgainst('createSite')}>
              {texts.makeSite}
            </Action>
            <Action act={() => setMaking('space')} reason={reasonAgainst('createSpace')}>
              {texts.makeSpace}
            </Action>
          </>
        }
      >
        {texts.what}
      </Head>
      <Places
        org={org}
        title={texts.sites}
        nothing={texts.noSites}
        of={sites}
        pathOf={(id) => `/orgs/${org}/sites/${id}`}
        page={query.sites}
        addressOf={(page) => addressOf({ sites: page })}
      />
      <Places
        org={org}
        title={texts.spaces}
        nothing={texts.noSpaces}
        of={spaces}
        pathOf={(id) => `/orgs/${org}/spaces/${id}`}
        page={query.spaces}
        addressOf={(page) => addressOf({ spaces: page })}
      />
      <p class="until">{texts.kept}</p>
      {making && (
        <MakePlace
          org={org}
          kind={making}
          onClose={() => setMaking(undefined)}
          onMade={(id) => route(`/orgs/${org}/${making}s/${id}`)}
        />
      )}
    </>
  )
}

type Page = { items: readonly (Site | Space)[]; next?: { page: string } }

function Places({
  org,
  title,
  nothing,
  of,
  pathOf,
  page,
  addressOf,
}: {
  org: string
  title: string
  nothing: string
  of: Load<Page>
  pathOf: (id: string) => string
  page: string | undefined
  addressOf: (page?: string) => string
}) {
  const { reload } = of
  return (
    <section>
      <h2>{title}</h2>
      <Loaded of={of} isEmpty={({ items }) => items.length === 0} empty={<p>{nothing}</p>}>
        {({ items, next }) => (
          <>
            <Table
              label={title}
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: texts.columns.title,
                  kind: 'wide-cell',
                  cell: ({ id, title }) => (
                    <a href={pathOf(id)}>
                      <bdi>{title}</bdi>
                    </a>
                  ),
                },
                { title: texts.columns.slug, cell: ({ slug }) => <code>{slug}</code> },
                {
                  title: texts.columns.published,
                  cell: ({ urls }) =>
                    urls.published === undefined ? (
                      <span class="muted">{texts.unpublished}</span>
                    ) : (
                      <OutsideLink href={urls.published}>{urls.published}</OutsideLink>
                    ),
                },
                {
                  title: texts.columns.visibility,
                  cell: ({ visibility }) => texts.visibilities[visibility],
                },
                {
                  title: texts.columns.created,
                  kind: 'nowrap',
                  cell: ({ createdAt }) => <Time at={createdAt} />,
                },
                {
                  title: texts.columns.actions,
                  kind: 'nowrap',
                  cell: (place) => (
                    <div class="row">
                      <PlaceActions
                        kind="plain"
                        org={org}
                        place={place}
                        onChange={reload}
                        onDeleted={reload}
                      />
                    </div>
                  ),
                },
              ]}
            />
            <nav class="row pager" aria-label={title}>
              {page !== undefined && <a href={addressOf()}>{texts.first}</a>}
              {next && <a href={addressOf(next.page)}>{texts.next}</a>}
            </nav>
          </>
        )}
      </Loaded>
    </section>
  )
}
