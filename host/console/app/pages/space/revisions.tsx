import { useRoute } from 'preact-iso'
import type { RevisionHead } from '../../../../../schemas/generated/api/content.ts'
import { api } from '../../api.ts'
import { Head } from '../../parts/head.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { spaceTexts as texts } from '../../texts/space.ts'
import { useLoad } from '../../use-load.ts'
import { Author, useAuthors } from './author.tsx'
import { addressOf } from './space-address.ts'
import { crumbsOf, type ReadSpace } from './use-space.ts'

/** The kept revisions of a space, the newest first. */
export function RevisionList({ of }: { of: ReadSpace }) {
  const { org, space, record } = of
  const { page } = useRoute().query
  const here = addressOf(org, space, 'revisions')
  const authors = useAuthors(org)
  const list = useLoad(`revisions ${org} ${space} ${page} ${record.revision}`, (signal) =>
    api.call('GET /v1/spaces/{space}/revisions', {
      params: { space },
      query: { organization: org, limit: 100, ...(page && { page }) },
      signal,
    }),
  )
  const columns = texts.revisions.columns
  return (
    <>
      <Head title={texts.revisions.title} crumbs={[...crumbsOf(of), { label: texts.revisions.title }]}>
        {texts.revisions.what}
      </Head>
      <Loaded of={list} isEmpty={({ items }) => items.length === 0} empty={<p>{texts.revisions.nothing}</p>}>
        {({ items, next }) => (
          <>
            <Table<RevisionHead>
              label={texts.revisions.title}
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: columns.number,
                  kind: 'nowrap',
                  cell: ({ id, number }) => <a href={`${here}/${id}`}>{texts.revision.title(number)}</a>,
                },
                { title: columns.created, kind: 'nowrap', cell: ({ createdAt }) => <Time at={createdAt} /> },
                {
                  title: columns.author,
                  kind: 'wide-cell',
                  cell: ({ author }) => <Author {...{ org, author, authors }} />,
                },
                {
                  title: columns.current,
                  kind: 'nowrap',
                  cell: ({ id }) =>
                    id === record.revision && <span class="chip good">{texts.revisions.current}</span>,
                },
              ]}
            />
            <div class="row pager">
              {page !== undefined && <a href={here}>{texts.revisions.newest}</a>}
              {next && <a href={`${here}?page=${encodeURIComponent(next.page)}`}>{texts.revisions.older}</a>}
            </div>
            <p class="until">{texts.revisions.kept}</p>
          </>
        )}
      </Loaded>
    </>
  )
}
