import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { paramsOf } from '../../level.ts'
import { Action } from '../../parts/action.tsx'
import { useAttempt } from '../../parts/attempt.ts'
import { Cancel } from '../../parts/cancel.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Form } from '../../parts/form.tsx'
import { Time } from '../../parts/time.tsx'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { installationTexts } from '../../texts/installation.ts'
import type { TabProps } from './tab-props.ts'

const texts = installationTexts.signing
const address = '/v1/integrations/{integration}/installations/{installation}/signing-secret'

/** Rotates the signing secret of a level. The new one is shown once. */
export function SigningSecret({ read, onSaved }: Pick<TabProps, 'read' | 'onSaved'> & { title: string }) {
  const [isAsked, setIsAsked] = useState(false)
  const [shown, setShown] = useState<string>()
  const [isAtOnce, setIsAtOnce] = useState(false)
  const { error, attempt } = useAttempt()
  const { previousSecretUntil: until } = read.level
  const reason = reasonAgainst('rotateInstallationSecret')
  const rotate = async () => {
    const body = {
      ...(until !== undefined && !isAtOnce && { again: true }),
      ...(isAtOnce && { overlapSeconds: 0 }),
    }
    const { signingSecret } = await api.call(`POST ${address}`, { params: paramsOf(read), body })
    setIsAsked(false)
    setShown(signingSecret)
    onSaved()
  }
  const end = () =>
    attempt(async () => {
      await api.call(`DELETE ${address}/previous`, { params: paramsOf(read) })
      sayDone(texts.ended)
      onSaved()
    })
  return (
    <section class="card">
      <h2>{texts.title}</h2>
      <p class="muted">{texts.what}</p>
      {until !== undefined && (
        <p>
          {texts.until} <Time at={until} />
        </p>
      )}
      <div class="row">
        <Action act={() => setIsAsked(true)} reason={reason}>
          {texts.rotate}
        </Action>
        {until !== undefined && (
          <Action kind="plain" act={end} reason={reason}>
            {texts.end}
          </Action>
        )}
      </div>
      {error !== undefined && <ErrorNote error={error} />}
      {isAsked && (
        <Dialog title={texts.rotateTitle} onClose={() => setIsAsked(false)}>
          <Form submit={rotate} label={texts.rotate}>
            <p>{until === undefined || isAtOnce ? texts.rotateWhat : texts.again}</p>
            <label class="row">
              <input type="checkbox" checked={isAtOnce} onChange={() => setIsAtOnce(!isAtOnce)} />
              {texts.now}
            </label>
          </Form>
          <Cancel act={() => setIsAsked(false)} />
        </Dialog>
      )}
      {shown !== undefined && (
        // It is shown once: Escape does not close it.
        <Dialog title={texts.newTitle}>
          <p>{texts.newWhat}</p>
          <pre>{shown}</pre>
          <div class="row">
            <CopyButton text={shown} label={texts.copy} />
            <Action kind="main" act={() => setShown(undefined)}>
              {texts.have}
            </Action>
          </div>
        </Dialog>
      )}
    </section>
  )
}
