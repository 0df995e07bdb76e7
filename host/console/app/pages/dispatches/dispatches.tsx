import { useLocation, useRoute } from 'preact-iso'
import { Id } from '../../parts/copy.tsx'
import { DispatchTable } from '../../parts/dispatch-table.tsx'
import { Head } from '../../parts/head.tsx'
import { Loaded } from '../../parts/state.tsx'
import { dispatchTexts as texts } from '../../texts/dispatches.ts'
import { Filters } from './filters.tsx'
import { type Filter, useDispatches } from './use-dispatches.ts'

const names = ['outcome', 'type', 'installation', 'event'] as const

/** Calls into scripts. The filter and the page of the list are in the address. */
export default function DispatchesPage() {
  const { params, query } = useRoute()
  const { route } = useLocation()
  const { org = '' } = params
  const { page } = query
  const filter: Filter = Object.fromEntries(
    names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])),
  )
  const { list, waiting, showNew, newerPage } = useDispatches(org, filter, page)
  const here = `/orgs/${org}/dispatches`
  const address = (given: Filter & { page?: string }) => {
    const entries = Object.entries(given).filter(([, value]) => value)
    return entries.length === 0 ? here : `${here}?${new URLSearchParams(entries)}`
  }
  const isFiltered = Object.keys(filter).length > 0
  return (
    <>
      <Head title={texts.title} crumbs={[{ label: org, href: `/orgs/${org}` }, { label: texts.title }]}>
        {texts.what}
      </Head>
      <Filters
        org={org}
        filter={filter}
        onChange={(change) => route(address({ ...filter, ...change }))}
        onClear={isFiltered ? () => route(here) : undefined}
      />
      {filter.event !== undefined && (
        <p class="row">
          {texts.ofEvent} <Id value={filter.event} />
        </p>
      )}
      {waiting.count > 0 && (
        <button type="button" class="waiting" onClick={showNew}>
          {texts.waiting(waiting.count, waiting.isMore)}
        </button>
      )}
      <Loaded
        of={list}
        isEmpty={({ items }) => items.length === 0}
        empty={
          <>
            <p>{texts.nothing}</p>
            <a href={`/orgs/${org}`}>{texts.toSteps}</a>
          </>
        }
        filtered={isFiltered || page ? { clear: () => route(here) } : undefined}
      >
        {({ items, next }) => (
          <>
            <DispatchTable org={org} rows={items} />
            <div class="row pager">
              {page !== undefined && <a href={address(filter)}>{texts.newest}</a>}
              {newerPage && <a href={address({ ...filter, page: newerPage })}>{texts.newer}</a>}
              {next && <a href={address({ ...filter, page: next })}>{texts.older}</a>}
            </div>
            <p class="until">{texts.kept}</p>
          </>
        )}
      </Loaded>
    </>
  )
}
