import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import type { Versioned } from '../../../../../schemas/client.ts'
import type { Page, PageWithText } from '../../../../../schemas/generated/api/content.ts'
import { api } from '../../api.ts'
import { Action } from '../../parts/action.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { More } from '../../parts/more.tsx'
import { Loaded } from '../../parts/state.tsx'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { spaceTexts as texts } from '../../texts/space.ts'
import { useLoad } from '../../use-load.ts'
import { DeletePage } from './delete-page.tsx'
import { dropDraft, readDraft } from './draft.ts'
import { EditPage } from './edit-page.tsx'
import { MovePage } from './move-page.tsx'
import { firstPage } from './page-list.ts'
import { Branch, PageNav } from './page-nav.tsx'
import { PageText } from './page-text.tsx'
import { addressOf } from './space-address.ts'
import { crumbsOf, type PartProps, type ReadSpace } from './use-space.ts'

/** A page of the space, read or edited. Without a path it is the first one. */
export function ReadPage({ of, path, reload }: PartProps & { path: string | undefined }) {
  const { query } = useRoute()
  const { org, space, all, pages } = of
  const page = path === undefined ? firstPage(pages) : all.find((one) => one.path === path || one.id === path)
  // A page that is new to this tab is not in its list yet.
  const name = path ?? page?.path
  const isEdited = 'edit' in query
  const load = useLoad(`page ${org} ${space} ${name} ${isEdited}`, async (signal) => {
    if (name === undefined) return undefined
    return api.read('GET /v1/spaces/{space}/content/page/{page}', {
      params: { space, page: name },
      query: { organization: org, ...(!isEdited && { tree: true }) },
      signal,
    })
  })
  const title = load.value?.value.title ?? page?.title ?? path ?? of.record.title
  return (
    <>
      <Head
        title={title}
        crumbs={[...crumbsOf(of), ...(name === undefined ? [] : [{ label: title }])]}
        actions={!isEdited && <Actions {...{ of, page, reload }} read={load.value} />}
      >
        {!isEdited && load.value?.value.description}
      </Head>
      {of.record.problems && <FolderProblems problems={of.record.problems} />}
      <div class="space">
        <PageNav of={of} current={page} />
        <div class="page-body">
          {name === undefined ? (
            <NoPage of={of} />
          ) : (
            <Loaded of={load}>
              {(read) =>
                read &&
                (isEdited && read.value.markdown !== undefined ? (
                  <EditPage key={read.value.id} {...{ of, read, reload }} />
                ) : (
                  <Text {...{ of, read, page }} />
                ))
              }
            </Loaded>
          )}
        </div>
      </div>
    </>
  )
}

type Read = Versioned<PageWithText>

function Text({ of, read: { value }, page }: { of: ReadSpace; read: Read; page: Page | undefined }) {
  const { org, space, record, blocks, paths } = of
  const { route } = useLocation()
  const [hasDraft, setHasDraft] = useState(() => readDraft(record.id, value.id) !== undefined)
  const { tree, document, markdown } = value
  const discard = () => {
    dropDraft(record.id, value.id)
    setHasDraft(false)
    sayDone(texts.discarded)
  }
  return (
    <>
      {hasDraft && (
        <div class="note">
          <Icon name="note" />
          <div>
            <span>{texts.draft}</span>
            <div class="row">
              <button
                type="button"
                onClick={() => route(`${addressOf(org, space, 'pages', value.path)}?edit`)}
              >
                {texts.openDraft}
              </button>
              <button type="button" onClick={discard}>
                {texts.discard}
              </button>
            </div>
          </div>
        </div>
      )}
      {tree !== undefined && (
        <PageText {...{ tree, org, space, blocks, paths }} title={value.title} path={value.path} />
      )}
      {document !== undefined && (
        <>
          <p class="muted">{texts.document}</p>
          <pre>{JSON.stringify(document, null, 2)}</pre>
        </>
      )}
      {value.type === 'group' && (
        <>
          <p class="muted">{texts.group}</p>
          <div class="page-list">
            <Branch of={of} above={new Set()} current={undefined} pages={page?.pages ?? []} />
          </div>
        </>
      )}
      {markdown?.trim() === '' && <p class="muted">{texts.noText}</p>}
    </>
  )
}

function Actions({ of, page, read, reload }: PartProps & { page: Page | undefined; read: Read | undefined }) {
  const { route } = useLocation()
  const [asked, setAsked] = useState<'move' | 'delete'>()
  const close = () => setAsked(undefined)
  const { org, space, record } = of
  const value = read?.value
  const reason = reasonAgainst('putPage') ?? (record.ofFolder ? texts.ofFolder : undefined)
  const reasonToEdit =
    reason ??
    (value?.type === 'group' ? texts.ofGroup : value?.document !== undefined ? texts.ofDocument : undefined)
  return (
    <>
      {value !== undefined && (
        <Action
          kind="main"
          reason={reasonToEdit}
          act={() => route(`${addressOf(org, space, 'pages', value.path)}?edit`)}
        >
          {texts.edit}
        </Action>
      )}
      <Action
        kind={of.all.length === 0 ? 'main' : ''}
        reason={reason}
        act={() => route(addressOf(org, space, 'new') + toBelow(page))}
      >
        {texts.newPage}
      </Action>
      {record.revision !== null && (
        <a class="button" href={addressOf(org, space, 'revisions')}>
          {texts.revisions.title}
        </a>
      )}
      {read !== undefined && (
        <More>
          <Action reason={reason} act={() => setAsked('move')}>
            {texts.move}
          </Action>
          <Action kind="bad" reason={reason} act={() => setAsked('delete')}>
            {texts.remove}
          </Action>
        </More>
      )}
      {asked === 'move' && page !== undefined && <MovePage {...{ of, page, reload }} onClose={close} />}
      {asked === 'delete' && read !== undefined && (
        <DeletePage {...{ of, read, page, reload }} onClose={close} />
      )}
    </>
  )
}

const toBelow = (page: Page | undefined): string =>
  page?.parent === undefined ? '' : `?below=${page.parent}`

function NoPage({ of: { record } }: { of: ReadSpace }) {
  const command = `npx annex spaces create ${record.slug}-folder --folder ./docs`
  if (record.ofFolder) return <div class="empty">{texts.nothingInFolder}</div>
  return (
    <div class="empty">
      <p>{texts.nothing}</p>
      <p>{texts.nothingHow}</p>
      <div class="row">
        <code>{command}</code>
        <CopyButton text={command} label={`Copy ${command}`} />
      </div>
    </div>
  )
}

const FolderProblems = ({ problems }: { problems: NonNullable<ReadSpace['record']['problems']> }) => (
  <details class="note warning">
    <summary>{texts.problems(problems.length)}</summary>
    <ul class="bullets">
      {problems.map(({ file, line, message }) => (
        <li key={`${file} ${line} ${message}`}>
          <code>{file}</code>
          {line !== undefined && texts.line(line)}: {message}
        </li>
      ))}
    </ul>
  </details>
)
