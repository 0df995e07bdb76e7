import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Answer } from '../../../../schemas/client.ts'
import type { PasskeyResponse } from '../../../../schemas/generated/api/accounts.ts'
import { api } from '../api.ts'
import { reasonAgainstPasskeys, usePasskey } from '../passkeys.ts'
import { openid as openidTexts } from '../texts/openid.ts'
import { texts } from '../texts.ts'
import { useLoad } from '../use-load.ts'
import { Action } from './action.tsx'
import { useAttempt } from './attempt.ts'
import { ErrorNote } from './error-note.tsx'
import { Field, Username } from './field.tsx'
import { Form } from './form.tsx'
import { Loaded } from './state.tsx'

export type WayIn = { password: string } | { passkey: PasskeyResponse }
type Needs = Answer<'GET /v1/sign-in'>

type FormProps = {
  /** The person is known: only the way in is asked for. */
  email?: string | undefined
  enter: (way: WayIn, email: string) => Promise<unknown>
  label: string
  /** The button of the OpenID provider. `isOnly`: the account has no other way in. */
  openid?: { isOnly: boolean; button: (name: string) => VNode } | undefined
}

/** The OpenID provider first, then passkey and password; why a passkey is not possible here, if so. */
export function SignInForm(props: FormProps) {
  const needs = useLoad('sign-in', () => api.call('GET /v1/sign-in'))
  return <Loaded of={needs}>{(value) => <Ways {...props} needs={value} />}</Loaded>
}

function Ways({ needs, email: known, enter, label, openid }: FormProps & { needs: Needs }) {
  const [email, setEmail] = useState(known ?? '')
  const [password, setPassword] = useState('')
  const { error, attempt } = useAttempt()
  const reason = reasonAgainstPasskeys(needs)
  const byPasskey = () =>
    attempt(async () => {
      await enter({ passkey: await usePasskey() }, email)
    })
  const provider = needs.openid && openid?.button(needs.openid.name)
  if (openid?.isOnly) return provider ?? <p class="note">{openidTexts.only}</p>
  return (
    <>
      {provider && (
        <>
          {provider}
          <div class="or">{texts.or}</div>
        </>
      )}
      {reason === undefined ? (
        <>
          <Action kind={provider ? 'wide' : 'main wide'} act={byPasskey}>
            {texts.passkeys.use}
          </Action>
          {error !== undefined && <ErrorNote error={error} />}
          <div class="or">{texts.or}</div>
        </>
      ) : (
        <p class="muted small">{reason}</p>
      )}
      <Form submit={() => enter({ password }, email)} label={label}>
        {known === undefined ? (
          <Field
            label={texts.email}
            type="email"
            autocomplete="username"
            required
            value={email}
            onValue={setEmail}
          />
        ) : (
          <Username value={known} />
        )}
        <Field
          label={texts.password}
          type="password"
          autocomplete="current-password"
          required
          value={password}
          onValue={setPassword}
        />
      </Form>
    </>
  )
}
