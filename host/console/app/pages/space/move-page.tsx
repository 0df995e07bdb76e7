import { useState } from 'preact/hooks'
import { isApiError } from '../../../../../schemas/client.ts'
import type { Page } from '../../../../../schemas/generated/api/content.ts'
import { api } from '../../api.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Choice } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { sayDone } from '../../state.ts'
import { spaceTexts as texts } from '../../texts/space.ts'
import { texts as general } from '../../texts.ts'
import { flatten } from './page-list.ts'
import type { PartProps } from './use-space.ts'

/** Another place for a page, with those below it. Its text and its path stay. */
export function MovePage({
  of: { org, space, pages, all },
  page,
  reload,
  onClose,
}: PartProps & { page: Page; onClose: () => void }) {
  const moved = new Set(flatten([page]).map(({ id }) => id))
  const besideIn = (parent: string): readonly Page[] =>
    (parent === '' ? pages : (all.find(({ id }) => id === parent)?.pages ?? [])).filter(
      ({ id }) => id !== page.id,
    )
  const [below, setBelow] = useState(page.parent ?? '')
  const [before, setBefore] = useState(() => nextOf(page, all))
  const move = async () => {
    const given = { params: { space, page: page.id }, query: { organization: org } }
    // Only the place changes: what another person has written meanwhile stays.
    const { etag } = await api.read('GET /v1/spaces/{space}/content/page/{page}', given)
    const last = { parent: below === '' ? null : below, index: all.length }
    const put = api.call('PUT /v1/spaces/{space}/content/page/{page}', {
      ...given,
      body: before === '' ? last : { before, parent: last.parent },
      headers: { 'if-match': etag },
    })
    await put.catch((error) => {
      throw isApiError(error, 'body_invalid') ? new Error(texts.movedMeanwhile, { cause: error }) : error
    })
    sayDone(texts.moved(page.title))
    onClose()
    reload()
  }
  return (
    <Dialog title={texts.moveTitle(page.title)} onClose={onClose}>
      <Form submit={move} label={texts.move}>
        {moved.size > 1 && <p>{texts.moveBelow(moved.size - 1)}</p>}
        <Choice
          label={texts.below}
          value={below}
          options={[
            { value: '', label: texts.top },
            ...all.filter(({ id }) => !moved.has(id)).map(({ id, title }) => ({ value: id, label: title })),
          ]}
          onValue={(parent) => {
            setBelow(parent)
            setBefore('')
          }}
        />
        <Choice
          label={texts.moveBefore}
          value={before}
          options={[
            ...besideIn(below).map(({ id, title }) => ({ value: id, label: title })),
            { value: '', label: texts.moveLast },
          ]}
          onValue={setBefore}
        />
      </Form>
      <div>
        <button type="button" onClick={onClose}>
          {general.cancel}
        </button>
      </div>
    </Dialog>
  )
}

/** The id of the page that comes next beside a page, or an empty text. */
function nextOf({ id, parent }: Page, all: readonly Page[]): string {
  const beside = all.filter((one) => one.parent === parent)
  return beside[beside.findIndex((one) => one.id === id) + 1]?.id ?? ''
}
