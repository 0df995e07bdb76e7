import { useLocation } from 'preact-iso'
import type { Versioned } from '../../../../../schemas/client.ts'
import type { Page, PageWithText } from '../../../../../schemas/generated/api/content.ts'
import { api } from '../../api.ts'
import { Cancel } from '../../parts/cancel.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { sayDone } from '../../state.ts'
import { spaceTexts as texts } from '../../texts/space.ts'
import { dropDraft } from './draft.ts'
import { flatten } from './page-list.ts'
import { addressOf } from './space-address.ts'
import type { PartProps } from './use-space.ts'

/** A page goes with those below it. Older revisions keep it, so its name need not be typed. */
export function DeletePage({
  of: { org, space, record },
  read: { value, etag },
  page,
  reload,
  onClose,
}: PartProps & { read: Versioned<PageWithText>; page: Page | undefined; onClose: () => void }) {
  const { route } = useLocation()
  const below = flatten(page?.pages ?? []).length
  const remove = async () => {
    await api.call('DELETE /v1/spaces/{space}/content/page/{page}', {
      params: { space, page: value.id },
      query: { organization: org },
      headers: { 'if-match': etag },
    })
    dropDraft(record.id, value.id)
    sayDone(texts.removed(value.title))
    onClose()
    route(addressOf(org, space))
    reload()
  }
  return (
    <Dialog title={texts.removeTitle(value.title)} onClose={onClose}>
      <Form submit={remove} label={texts.remove} kind="bad">
        {below > 0 && <p>{texts.removeBelow(below)}</p>}
        <p>{texts.removeKept}</p>
      </Form>
      <Cancel act={onClose} />
    </Dialog>
  )
}
