import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { api } from '../../api.ts'
import { Action } from '../../parts/action.tsx'
import { Choice } from '../../parts/field.tsx'
import { Head } from '../../parts/head.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { reasonAgainst } from '../../person.ts'
import { spaceTexts as texts } from '../../texts/space.ts'
import { useLoad } from '../../use-load.ts'
import { Author, useAuthors } from './author.tsx'
import { ChangedPage, type Compared } from './changed-page.tsx'
import { RestoreRevision } from './restore.tsx'
import { addressOf } from './space-address.ts'
import { crumbsOf, type PartProps } from './use-space.ts'

const mostChanges = 1_000

/** A revision: its changes page by page, and the way back to it. */
export function RevisionPage({ of, id, reload }: PartProps & { id: string }) {
  const { org, space, record } = of
  const { query } = useRoute()
  const { route } = useLocation()
  const [isRestoring, setIsRestoring] = useState(false)
  const authors = useAuthors(org)
  const isSince = query.with === 'current'
  const current = record.revision ?? id
  const here = `${addressOf(org, space, 'revisions')}/${encodeURIComponent(id)}`
  const load = useLoad(
    `revision ${org} ${space} ${id} ${isSince} ${current}`,
    async (signal): Promise<Compared> => {
      const compared = isSince ? current : id
      const [revision, changes] = await Promise.all([
        api.call('GET /v1/spaces/{space}/revisions/{revision}', {
          params: { space, revision: id },
          query: { organization: org },
          signal,
        }),
        api.call('GET /v1/spaces/{space}/revisions/{revision}/changes', {
          params: { space, revision: compared },
          query: { organization: org, limit: mostChanges, ...(isSince && { since: id }) },
          signal,
        }),
      ])
      return { revision, from: changes.since, to: compared, changes }
    },
  )
  const title = load.value ? texts.revision.title(load.value.revision.number) : texts.revisions.title
  const reason =
    reasonAgainst('restoreRevision') ??
    (record.ofFolder ? texts.ofFolder : id === current ? texts.revision.isCurrent : undefined)
  return (
    <>
      <Head
        title={title}
        crumbs={[
          ...crumbsOf(of),
          { label: texts.revisions.title, href: addressOf(org, space, 'revisions') },
          { label: title },
        ]}
        state={id === current && <span class="chip good">{texts.revisions.current}</span>}
        actions={
          <Action reason={reason} act={() => setIsRestoring(true)}>
            {texts.revision.restore}
          </Action>
        }
      >
        {load.value && (
          <>
            <Author {...{ org, authors }} author={load.value.revision.author} />
            {' · '}
            <Time at={load.value.revision.createdAt} />
          </>
        )}
      </Head>
      <search class="filters">
        <Choice
          isHidden
          label={texts.revision.compare}
          value={isSince ? 'current' : ''}
          options={[
            { value: '', label: texts.revision.before },
            { value: 'current', label: texts.revision.now },
          ]}
          onValue={(value) => route(value === '' ? here : `${here}?with=${value}`)}
        />
      </search>
      <Loaded
        of={load}
        isEmpty={({ changes }) => changes.changes.length === 0}
        empty={<p>{texts.revision.none}</p>}
      >
        {(compared) => (
          <>
            {compared.from === undefined && <p class="muted">{texts.revision.noBefore}</p>}
            <ul class="changed-pages">
              {compared.changes.changes.map(({ type, page }, index) => (
                <ChangedPage
                  key={`${compared.to} ${compared.from} ${page.id}`}
                  {...{ of, compared, type, page, reload, id }}
                  isOpen={index === 0}
                />
              ))}
            </ul>
            {compared.changes.more && <p class="until">{texts.revision.more(compared.changes.more)}</p>}
          </>
        )}
      </Loaded>
      {isRestoring && load.value && (
        <RestoreRevision
          {...{ of, reload, current }}
          revision={load.value.revision}
          onClose={() => setIsRestoring(false)}
        />
      )}
    </>
  )
}
