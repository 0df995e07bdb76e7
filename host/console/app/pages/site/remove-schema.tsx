import { useState } from 'preact/hooks'
import { isApiError } from '../../../../../schemas/client.ts'
import { api } from '../../api.ts'
import { Action } from '../../parts/action.tsx'
import { Cancel } from '../../parts/cancel.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { placeTexts } from '../../texts/places.ts'

const texts = placeTexts.audience.removal

/** Removes the schema that the person has read, and no newer one. */
export function RemoveSchema({
  org,
  site,
  etag,
  onChanged,
}: {
  org: string
  site: string
  etag: string
  onChanged: () => void
}) {
  const [isAsking, setIsAsking] = useState(false)
  const close = () => setIsAsking(false)
  const remove = async () => {
    try {
      await api.call('DELETE /v1/orgs/{org}/sites/{site}/adaptive-schema', {
        params: { org, site },
        headers: { 'if-match': etag },
      })
      sayDone(texts.done)
    } catch (error) {
      // Another person was first: what is there now has to be read before it is removed.
      const isOther = isApiError(error, 'precondition_failed') || isApiError(error, 'not_found')
      if (!isOther) throw error
      sayDone(texts.changed)
    }
    close()
    onChanged()
  }
  return (
    <div class="row">
      <Action kind="bad" act={() => setIsAsking(true)} reason={reasonAgainst('deleteSiteAdaptiveSchema')}>
        {texts.open}
      </Action>
      {isAsking && (
        <Dialog title={texts.title} onClose={close}>
          <Form submit={remove} label={texts.action} kind="bad">
            <p>{texts.what}</p>
          </Form>
          <Cancel act={close} />
        </Dialog>
      )}
    </div>
  )
}
