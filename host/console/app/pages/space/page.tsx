import { useRoute } from 'preact-iso'
import { Head } from '../../parts/head.tsx'
import { Loaded } from '../../parts/state.tsx'
import { spaceTexts as texts } from '../../texts/space.ts'
import { NewPage } from './new-page.tsx'
import { PageNav } from './page-nav.tsx'
import { ReadPage } from './read-page.tsx'
import { RevisionPage } from './revision.tsx'
import { RevisionList } from './revisions.tsx'
import { parsePart } from './space-address.ts'
import { crumbsOf, type PartProps, useSpace } from './use-space.ts'

/** A space: its pages, and their revisions. */
export default function SpacePage() {
  const { org = '', space = '', rest } = useRoute().params
  const load = useSpace({ org, space })
  if (load.value === undefined) {
    return (
      <>
        <Head title={space} crumbs={[{ label: org, href: `/orgs/${org}` }, { label: space }]} />
        <Loaded of={load}>{() => null}</Loaded>
      </>
    )
  }
  return <Part of={load.value} rest={rest} reload={load.reload} />
}

function Part({ of, rest, reload }: PartProps & { rest: string | undefined }) {
  const part = parsePart(rest)
  switch (part.kind) {
    case 'page':
      return <ReadPage {...{ of, reload }} path={part.path} />
    case 'new':
      return <NewPage {...{ of, reload }} />
    case 'revisions':
      return <RevisionList of={of} />
    case 'revision':
      return <RevisionPage {...{ of, reload }} id={part.id} />
    case 'unknown':
      return (
        <>
          <Head title={of.record.title} crumbs={crumbsOf(of)} />
          <div class="space">
            <PageNav of={of} current={undefined} />
            <p>{texts.unknown}</p>
          </div>
        </>
      )
  }
}
