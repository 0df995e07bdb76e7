import { useLocation } from 'preact-iso'
import type { RevisionHead } from '../../../../../schemas/generated/api/content.ts'
import { api } from '../../api.ts'
import { Cancel } from '../../parts/cancel.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { Loaded } from '../../parts/state.tsx'
import { sayDone } from '../../state.ts'
import { spaceTexts as texts } from '../../texts/space.ts'
import { useLoad } from '../../use-load.ts'
import { addressOf } from './space-address.ts'
import type { PartProps } from './use-space.ts'

const shown = 10

/** What changes is named first. Nothing is lost: a restored revision is a new one. */
export function RestoreRevision({
  of: { org, space },
  revision: { id, number },
  current,
  reload,
  onClose,
}: PartProps & { revision: RevisionHead; current: string; onClose: () => void }) {
  const { route } = useLocation()
  const load = useLoad(`restore ${id} ${current}`, (signal) =>
    api.call('GET /v1/spaces/{space}/revisions/{revision}/changes', {
      params: { space, revision: current },
      query: { organization: org, since: id, limit: shown },
      signal,
    }),
  )
  const restore = async () => {
    const made = await api.call('POST /v1/spaces/{space}/revisions/{revision}/restore', {
      params: { space, revision: id },
      query: { organization: org },
    })
    sayDone(texts.revision.restored(made.number))
    onClose()
    route(`${addressOf(org, space, 'revisions')}/${made.id}`)
    reload()
  }
  return (
    <Dialog title={texts.revision.restoreTitle(number)} onClose={onClose}>
      <Form submit={restore} label={texts.revision.restore}>
        <p>{texts.revision.restoreWhat}</p>
        <Loaded of={load}>
          {({ changes, more = 0 }) => (
            <>
              <p>{texts.revision.restoreChanges(changes.length, more > 0)}</p>
              <ul class="bullets">
                {changes.map(({ page }) => (
                  <li key={page.id}>
                    <bdi>{page.title}</bdi>
                  </li>
                ))}
              </ul>
            </>
          )}
        </Loaded>
      </Form>
      <Cancel act={onClose} />
    </Dialog>
  )
}
