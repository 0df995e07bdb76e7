import { useLocation, useRoute } from 'preact-iso'
import type { Integration } from '../../../../schemas/generated/api/integrations.ts'
import { api } from '../api.ts'
import { type Installed, stateOf } from '../installed.ts'
import { Boundary } from '../parts/boundary.tsx'
import { Chip } from '../parts/chip.tsx'
import { Choice } from '../parts/field.tsx'
import { Head } from '../parts/head.tsx'
import { Icon } from '../parts/icon.tsx'
import { IntegrationIcon } from '../parts/integration-icon.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Loaded } from '../parts/state.tsx'
import { readInstalled } from '../read-installed.ts'
import { texts } from '../texts.ts'
import { type Load, useKept, useLoad } from '../use-load.ts'

const words = texts.catalogue
const categories = Object.entries(words.categories).map(([value, label]) => ({ value, label }))
type Category = keyof typeof words.categories
const toCategory = (value: string | undefined) =>
  categories.find((one) => one.value === value)?.value as Category | undefined
const installedOf: Readonly<Record<string, boolean>> = { installed: true, other: false }

type Filter = { q?: string; category?: string; shown?: string; page?: string }

/** The catalogue: what an organization may install, and what it has installed. The filter is in the address. */
export default function IntegrationsPage() {
  const { params, query } = useRoute()
  const { route } = useLocation()
  const { org = '' } = params
  const { q = '', page } = query
  const category = toCategory(query.category)
  const installed = installedOf[query.shown ?? '']
  const list = useLoad(`integrations ${org} ${JSON.stringify([q, category, installed, page])}`, (signal) =>
    api.call('GET /v1/integrations', {
      query: {
        organization: org,
        limit: 100,
        ...(q !== '' && { q }),
        ...(category !== undefined && { category }),
        ...(installed !== undefined && { installed }),
        ...(page !== undefined && { page }),
      },
      signal,
    }),
  )
  const shownList = useKept(list)
  const here = useLoad(`installed ${org}`, (signal) => readInstalled(org, signal))
  const address = (given: Filter) =>
    toAddress(org, { q, category, shown: query.shown, page: undefined, ...given })
  const isFiltered = q !== '' || category !== undefined || installed !== undefined
  return (
    <>
      <Head title={words.title} crumbs={[{ label: org, href: `/orgs/${org}` }, { label: words.title }]}>
        {words.what}
      </Head>
      <search class="catalogue-filters">
        <SearchField label={words.search} value={q} onValue={(value) => route(address({ q: value }), true)} />
        <Choice
          isHidden
          label={words.category}
          value={category ?? ''}
          options={[{ value: '', label: words.allCategories }, ...categories]}
          onValue={(value) => route(address({ category: value }))}
        />
        <Choice
          isHidden
          label={words.shown}
          value={installed === undefined ? '' : (query.shown ?? '')}
          options={[
            { value: '', label: words.shownOptions.all },
            { value: 'installed', label: words.shownOptions.installed },
            { value: 'other', label: words.shownOptions.other },
          ]}
          onValue={(value) => route(address({ shown: value }))}
        />
      </search>
      {!isFiltered && page === undefined && (
        <Boundary>
          <Waiting org={org} of={here} />
        </Boundary>
      )}
      <div class="kept" aria-busy={list.isLoading}>
        <Loaded
          of={shownList}
          isEmpty={({ items }) => items.length === 0}
          empty={
            <>
              <p>{words.nothing}</p>
              <p>{words.nothingHow}</p>
              <pre>npx annex new my-integration</pre>
            </>
          }
          filtered={isFiltered || page !== undefined ? { clear: () => route(toAddress(org, {})) } : undefined}
        >
          {({ items, next }) => (
            <>
              <ul class="catalogue">
                {items.map((one) => (
                  <Card key={one.name} org={org} integration={one} installed={here.value?.get(one.name)} />
                ))}
              </ul>
              <div class="row">
                {page !== undefined && <a href={address({})}>{words.first}</a>}
                {next && <a href={address({ page: next.page })}>{words.more}</a>}
              </div>
            </>
          )}
        </Loaded>
      </div>
    </>
  )
}

function toAddress(
  org: string,
  { q, category, shown, page }: { [Name in keyof Filter]: Filter[Name] | undefined },
) {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ q, category, shown, page })) if (value) query.set(name, value)
  const text = query.toString()
  return `/orgs/${org}/integrations${text === '' ? '' : `?${text}`}`
}

function Card({
  org,
  integration: { name, title, description, icon, visibility, version },
  installed,
}: {
  org: string
  integration: Integration
  installed: Installed | undefined
}) {
  return (
    <li class="card">
      <IntegrationIcon title={title} icon={icon} />
      <div>
        <h2 dir="auto">
          <a href={`/orgs/${org}/integrations/${encodeURIComponent(name)}`}>{title}</a>
        </h2>
        <p class="muted" dir="auto">
          {version === null ? words.noVersion : description}
        </p>
        <div class="row">
          {installed && <Chip state={stateOf(installed)} />}
          {version === null ? (
            <Chip state="retired" />
          ) : (
            visibility !== 'public' && <Chip state={visibility} />
          )}
        </div>
      </div>
    </li>
  )
}

/** What is installed and needs a person. It stands above the list: the list has pages. */
function Waiting({ org, of }: { org: string; of: Load<Map<string, Installed>> }) {
  const waiting = [...(of.value?.values() ?? [])].filter(
    ({ status, waiting }) => waiting !== undefined || status === 'pending',
  )
  if (waiting.length === 0) return null
  const more = waiting.length - mostWaiting
  return (
    <section>
      <h2>{words.waits}</h2>
      <ul class="waiting">
        {waiting.slice(0, mostWaiting).map(({ id, integration, waiting }) => (
          <li class="note warning" key={id}>
            <Icon name="clock" />
            <div>
              <strong class="detail">{integration}</strong>
              <span class="detail">{waiting ?? words.pending}</span>
            </div>
            {waiting === undefined ? (
              <a href={`/orgs/${org}/installations/${id}`}>{words.openSettings}</a>
            ) : (
              <a href={`/orgs/${org}/integrations/${encodeURIComponent(integration)}/install?step=agree`}>
                {words.seeNew}
              </a>
            )}
          </li>
        ))}
      </ul>
      {more > 0 && <a href={toAddress(org, { shown: 'installed' })}>{words.moreWaiting(more)}</a>}
    </section>
  )
}

/** More of them would hide the list below. */
const mostWaiting = 5
