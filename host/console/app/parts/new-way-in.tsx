import { useState } from 'preact/hooks'
import type { PasskeyResponse } from '../../../../schemas/generated/api/accounts.ts'
import { api } from '../api.ts'
import { createPasskey, reasonAgainstPasskeys } from '../passkeys.ts'
import { texts } from '../texts.ts'
import { useLoad } from '../use-load.ts'
import { Field, NewPassword } from './field.tsx'
import { Form } from './form.tsx'
import { Loaded } from './state.tsx'

export type NewWayIn = { password: string } | { passkey: { response: PasskeyResponse } }

/** Of a new account: who it is, and a passkey or a password. */
export function NewWayInForm({
  email: knownEmail,
  name: knownName,
  isNew = true,
  enter,
}: {
  email?: string | undefined
  name?: string | undefined
  /** False when the account is there and gets a new way in. */
  isNew?: boolean
  enter: (given: { email: string; name: string; way: NewWayIn }) => Promise<unknown>
}) {
  const needs = useLoad('sign-in', () => api.call('GET /v1/sign-in'))
  const [email, setEmail] = useState(knownEmail ?? '')
  const [name, setName] = useState(knownName ?? '')
  const [password, setPassword] = useState('')
  const [isByPassword, setIsByPassword] = useState(false)
  return (
    <Loaded of={needs}>
      {(value) => {
        const reason = reasonAgainstPasskeys(value)
        const withPassword = reason !== undefined || isByPassword
        const submit = async () => {
          const way = withPassword
            ? { password }
            : { passkey: { response: await createPasskey({ email, ...(name && { name }) }) } }
          await enter({ email, name, way })
        }
        return (
          <>
            <Form
              submit={submit}
              label={withPassword ? texts.newWay.withPassword(isNew) : texts.newWay.withPasskey(isNew)}
            >
              {isNew && (
                <>
                  <Field
                    label={texts.email}
                    type="email"
                    autocomplete="email"
                    required
                    readOnly={knownEmail !== undefined}
                    value={email}
                    onValue={setEmail}
                  />
                  <Field label={texts.nameOptional} autocomplete="name" value={name} onValue={setName} />
                </>
              )}
              {withPassword ? (
                <>
                  {reason !== undefined && <p class="muted small">{reason}</p>}
                  <NewPassword email={email} value={password} onValue={setPassword} />
                </>
              ) : (
                <p class="muted small">{texts.passkeys.what(location.hostname)}</p>
              )}
            </Form>
            {reason === undefined && (
              <div>
                <button type="button" class="plain" onClick={() => setIsByPassword(!isByPassword)}>
                  {withPassword ? texts.newWay.choosePasskey : texts.newWay.choosePassword}
                </button>
              </div>
            )}
          </>
        )
      }}
    </Loaded>
  )
}
