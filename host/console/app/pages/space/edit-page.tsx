import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { isApiError, type Versioned } from '../../../../../schemas/client.ts'
import type { PageWithText } from '../../../../../schemas/generated/api/content.ts'
import { api } from '../../api.ts'
import { Action } from '../../parts/action.tsx'
import { useAttempt } from '../../parts/attempt.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Field } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { spaceTexts as texts } from '../../texts/space.ts'
import { texts as general } from '../../texts.ts'
import { Conflict } from './conflict.tsx'
import { type Draft, dropDraft, keepDraft, readDraft } from './draft.ts'
import { MarkdownArea } from './markdown-area.tsx'
import { Preview } from './preview.tsx'
import { addressOf } from './space-address.ts'
import type { PartProps } from './use-space.ts'

type Read = Versioned<PageWithText>
const putAddress = 'PUT /v1/spaces/{space}/content/page/{page}'

const draftOf = ({ value, etag }: Read): Draft => ({
  title: value.title,
  description: value.description ?? '',
  markdown: value.markdown ?? '',
  etag,
})

const isSameText = (one: Draft, other: Draft): boolean =>
  one.title === other.title && one.description === other.description && one.markdown === other.markdown

/** A page as Markdown. What was typed outlives a failed save, a session that ends, and a reload. */
export function EditPage({ of, read, reload }: PartProps & { read: Read }) {
  const { org, space, record, blocks } = of
  const { route } = useLocation()
  const { value } = read
  const stored = draftOf(read)
  const [kept] = useState(() => readDraft(record.id, value.id))
  const [draft, setDraft] = useState<Draft>(kept ?? stored)
  const [theirs, setTheirs] = useState<Read>()
  const [isGone, setIsGone] = useState(false)
  const [isPreview, setIsPreview] = useState(false)
  const { error, attempt } = useAttempt()
  const isChanged = !isSameText(draft, stored)
  const reason = reasonAgainst('putPage') ?? (record.ofFolder ? texts.ofFolder : undefined)
  const here = addressOf(org, space, 'pages', value.path)
  const change = (changed: Partial<Draft>) => setDraft((before) => ({ ...before, ...changed }))
  useKept(record.id, value.id, draft, isChanged)

  const put = async (etag: string | undefined) => {
    const { title, description, markdown } = draft
    await api.call(putAddress, {
      params: { space, page: etag === undefined ? value.path : value.id },
      query: { organization: org },
      headers: etag === undefined ? {} : { 'if-match': etag },
      body: { title: title.trim() || value.path, description: description.trim() || null, markdown },
    })
    dropDraft(record.id, value.id)
    sayDone(texts.saved(title))
    reload()
    route(here)
  }
  /** @param etag undefined: as a new page */
  const saveAs = (etag: string | undefined) =>
    attempt(async () => {
      try {
        await put(etag)
      } catch (failed) {
        if (isApiError(failed, 'not_found')) setIsGone(true)
        if (!isApiError(failed, 'precondition_failed')) throw failed
        setTheirs(
          await api.read('GET /v1/spaces/{space}/content/page/{page}', {
            params: { space, page: value.id },
            query: { organization: org },
          }),
        )
      }
    })
  const save = () => saveAs(draft.etag)
  const discard = () => {
    dropDraft(record.id, value.id)
    setDraft(stored)
    route(here)
  }
  if (theirs !== undefined) {
    return (
      <Conflict
        mine={draft}
        theirs={draftOf(theirs)}
        error={error}
        keepMine={() => saveAs(theirs.etag)}
        takeTheirs={() => {
          keepDraft(record.id, value.id, { ...draft, etag: theirs.etag })
          reload()
          route(here)
        }}
      />
    )
  }
  return (
    <>
      {kept !== undefined && isChanged && (
        <div class="note">
          <Icon name="note" />
          <div>{texts.fromDraft}</div>
        </div>
      )}
      <div class="page-form">
        <div class="page-fields">
          <Field label={texts.title} value={draft.title} onValue={(title) => change({ title })} required />
          <Field
            label={texts.description}
            value={draft.description}
            onValue={(description) => change({ description })}
          />
        </div>
        <fieldset class="modes">
          <legend class="visually-hidden">{texts.mode}</legend>
          {[false, true].map((one) => (
            <button
              type="button"
              key={String(one)}
              aria-pressed={isPreview === one}
              onClick={() => setIsPreview(one)}
            >
              {one ? texts.preview : texts.write}
            </button>
          ))}
        </fieldset>
        {isPreview ? (
          <Preview
            {...{ of }}
            path={value.path}
            draft={draft}
            onMarkdown={(markdown) => change({ markdown })}
          />
        ) : (
          <MarkdownArea
            {...{ blocks, org }}
            value={draft.markdown}
            onValue={(markdown) => change({ markdown })}
            onSave={() => reason === undefined && isChanged && save()}
          />
        )}
        {error !== undefined && (
          <ErrorNote
            error={error}
            {...(isGone && {
              what: texts.deletedMeanwhile,
              next: { label: texts.saveAsNew, act: () => saveAs(undefined) },
            })}
          />
        )}
        <div class="row save-row">
          <Action kind="main" act={save} reason={reason ?? (isChanged ? undefined : texts.unchanged)}>
            {texts.save}
          </Action>
          <Action act={discard}>{isChanged ? texts.discard : general.cancel}</Action>
        </div>
      </div>
    </>
  )
}

const pauseMs = 400

/** Keeps the draft once the typing pauses. A tab that is closed with it asks first. */
function useKept(spaceId: string, pageId: string, draft: Draft, isChanged: boolean): void {
  const latest = useRef({ draft, isChanged })
  latest.current = { draft, isChanged }
  useLayoutEffect(() => {
    if (!isChanged) return
    const timer = setTimeout(() => keepDraft(spaceId, pageId, draft), pauseMs)
    return () => clearTimeout(timer)
  }, [spaceId, pageId, draft, isChanged])
  useLayoutEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (!latest.current.isChanged) return
      keepDraft(spaceId, pageId, latest.current.draft)
      event.preventDefault()
    }
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [spaceId, pageId])
}
