import type { RevisionHead } from '../../../../../schemas/generated/api/content.ts'
import { api } from '../../api.ts'
import { Id } from '../../parts/copy.tsx'
import { me } from '../../state.ts'
import { spaceTexts as texts } from '../../texts/space.ts'
import { useLoad } from '../../use-load.ts'

/** People by the ids that revisions have. */
export type Authors = ReadonlyMap<string, string>

export function useAuthors(org: string): Authors {
  const { value } = useLoad(`authors ${org}`, (signal) =>
    api.call('GET /v1/orgs/{org}/members', { params: { org }, query: { limit: 100 }, signal }),
  )
  const authors = new Map((value?.items ?? []).map(({ id, name, email }) => [id, name || email]))
  const account = me.value?.account
  if (account) authors.set(account.id, account.name || account.email)
  return authors
}

/** Who made a revision. */
export function Author({
  org,
  author: { type, id },
  authors,
}: {
  org: string
  author: RevisionHead['author']
  authors: Authors
}) {
  if (type === 'host') return <>{texts.revisions.folder}</>
  if (type === 'integration') return <a href={`/orgs/${org}/integrations/${id}`}>{id}</a>
  const name = authors.get(id)
  return name === undefined ? <Id value={id} /> : <bdi>{name}</bdi>
}
