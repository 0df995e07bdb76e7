import { useState } from 'preact/hooks'
import { isApiError } from '../../../../../schemas/client.ts'
import type {
  PageChange,
  PageHead,
  PageWithText,
  RevisionChanges,
  RevisionHead,
} from '../../../../../schemas/generated/api/content.ts'
import { api } from '../../api.ts'
import { Action } from '../../parts/action.tsx'
import { useAttempt } from '../../parts/attempt.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Loaded } from '../../parts/state.tsx'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { spaceTexts as texts } from '../../texts/space.ts'
import { useLoad } from '../../use-load.ts'
import { Diff } from './diff.tsx'
import type { PartProps } from './use-space.ts'

const pageAddress = '/v1/spaces/{space}/revisions/{revision}/page/{page}'

/** What a revision shows: its changes to the one before it, or what the pages have become since. */
export type Compared = {
  revision: RevisionHead
  from: string | undefined
  to: string
  changes: RevisionChanges
}

/** A page that differs between two revisions. Its texts are read when it is opened. */
export function ChangedPage({
  of,
  compared,
  type,
  page,
  id,
  reload,
  isOpen: isOpenFirst,
}: PartProps & {
  compared: Compared
  type: PageChange['type']
  page: PageHead
  id: string
  isOpen: boolean
}) {
  const [isOpen, setIsOpen] = useState(isOpenFirst)
  return (
    <li>
      <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>
          <span class="chip">{texts.revision.kinds[type]}</span> <bdi>{page.title}</bdi>{' '}
          <code class="muted">{page.path}</code>
        </summary>
        {isOpen && <Texts {...{ of, compared, type, page, id, reload }} />}
      </details>
    </li>
  )
}

function Texts({
  of: { org, space, record },
  compared: { from, to },
  type,
  page,
  id,
  reload,
}: PartProps & { compared: Compared; type: PageChange['type']; page: PageHead; id: string }) {
  const { error, attempt } = useAttempt()
  const load = useLoad(`texts ${space} ${from} ${to} ${page.id}`, async (signal) => {
    const read = async (revision: string | undefined): Promise<PageWithText | undefined> => {
      if (revision === undefined) return undefined
      const params = { space, revision, page: page.id }
      return api.call(`GET ${pageAddress}`, { params, query: { organization: org }, signal })
    }
    const [before, after] = await Promise.all([
      read(type === 'page_created' ? undefined : from),
      read(type === 'page_deleted' ? undefined : to),
    ])
    return { before, after }
  })
  return (
    <Loaded of={load}>
      {({ before, after }) => {
        const here = from === id ? before : after
        return (
          <div class="column">
            <Facts before={before} after={after} />
            {toText(before) === toText(after) ? (
              <p class="muted">{texts.revision.sameText}</p>
            ) : (
              <Diff before={toText(before)} after={toText(after)} label={texts.revision.diff} />
            )}
            {error !== undefined && <ErrorNote error={error} />}
            <div>
              <Action
                reason={
                  reasonAgainst('putPage') ??
                  (record.ofFolder
                    ? texts.ofFolder
                    : id === record.revision
                      ? texts.revision.isCurrent
                      : here === undefined
                        ? texts.revision.gone
                        : undefined)
                }
                act={() => here && attempt(() => restore(here))}
              >
                {texts.revision.restorePage}
              </Action>
            </div>
          </div>
        )
      }}
    </Loaded>
  )

  /** A page that is deleted by now is made again at its path. */
  async function restore({ title, description, markdown, document }: PageWithText) {
    const text = document === undefined ? { markdown: markdown ?? '' } : { document }
    const put = (name: string, etag: string | undefined) =>
      api.call('PUT /v1/spaces/{space}/content/page/{page}', {
        params: { space, page: name },
        query: { organization: org },
        headers: etag === undefined ? {} : { 'if-match': etag },
        body: { title, description: description ?? null, ...text },
      })
    const now = await readNow()
    if (now === undefined) await put(page.path, undefined)
    else await put(page.id, now)
    sayDone(texts.revision.restoredPage(title))
    reload()
  }

  async function readNow(): Promise<string | undefined> {
    try {
      const params = { space, page: page.id }
      const { etag } = await api.read('GET /v1/spaces/{space}/content/page/{page}', {
        params,
        query: { organization: org },
      })
      return etag
    } catch (failed) {
      if (isApiError(failed, 'not_found')) return undefined
      throw failed
    }
  }
}

const toText = (page: PageWithText | undefined): string =>
  page?.document === undefined ? (page?.markdown ?? '') : JSON.stringify(page.document, null, 2)

/** Title, description and path, where they differ. */
function Facts({ before, after }: { before: PageWithText | undefined; after: PageWithText | undefined }) {
  const facts = [
    [texts.revision.titleWas, before?.title, after?.title],
    [texts.revision.descriptionWas, before?.description, after?.description],
    [texts.revision.pathWas, before?.path, after?.path],
  ].filter(([, old, now]) => before !== undefined && after !== undefined && old !== now)
  if (facts.length === 0) return null
  return (
    <dl class="facts">
      {facts.map(([name, old = '', now = '']) => (
        <>
          <dt>{name}</dt>
          <dd>
            {old && <del dir="auto">{old}</del>} {now && <ins dir="auto">{now}</ins>}
          </dd>
        </>
      ))}
    </dl>
  )
}
