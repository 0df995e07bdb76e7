import { useState } from 'preact/hooks'
import type { DeliveryWithAttempts } from '../../../../schemas/generated/api/deliveries.ts'
import { checkSignature, type Verdict } from '../signature.ts'
import { texts } from '../texts.ts'
import { useLoad } from '../use-load.ts'
import { Field } from './field.tsx'
import { Form } from './form.tsx'
import { Icon } from './icon.tsx'

function sentOf({ attemptList, body }: DeliveryWithAttempts) {
  const last = attemptList.at(-1)
  return last && body !== undefined ? { headers: last.request.headers, body } : undefined
}

/** Says whether the last attempt was signed with a secret that the page was given. */
export function SignatureNote({ delivery, secret }: { delivery: DeliveryWithAttempts; secret: string }) {
  const sent = sentOf(delivery)
  const { value } = useLoad(`${delivery.id} ${delivery.attempts}`, async () =>
    sent === undefined ? undefined : checkSignature(sent, secret),
  )
  return value === undefined ? null : <VerdictNote verdict={value} />
}

/** A receiver's author pastes the secret that the receiver has. It stays in this page. */
export function CheckSecret({ delivery }: { delivery: DeliveryWithAttempts }) {
  const [secret, setSecret] = useState('')
  const [verdict, setVerdict] = useState<Verdict>()
  const sent = sentOf(delivery)
  if (sent === undefined) return null
  return (
    <details>
      <summary>{texts.signature.check}</summary>
      <Form
        submit={async () => setVerdict(await checkSignature(sent, secret.trim()))}
        label={texts.signature.action}
      >
        <Field
          label={texts.signature.secret}
          hint={texts.signature.hint}
          type="password"
          autocomplete="off"
          required
          value={secret}
          onValue={(value) => {
            setSecret(value)
            setVerdict(undefined)
          }}
        />
        {verdict !== undefined && <VerdictNote verdict={verdict} />}
      </Form>
    </details>
  )
}

function VerdictNote({ verdict }: { verdict: Verdict }) {
  const isGood = verdict === 'verified'
  const reasons = {
    wrong: texts.signature.wrongSecret,
    missing: texts.signature.missing,
    'not-here': texts.signature.notHere,
  }
  return (
    <div class={`note ${isGood ? 'good' : verdict === 'wrong' ? 'bad' : 'warning'}`} role="status">
      <Icon name={isGood ? 'check' : 'warning'} />
      <div>
        {isGood ? (
          <>
            <strong>{texts.signature.verified}</strong>
            <span class="detail small">{texts.signature.how}</span>
          </>
        ) : (
          <span class="detail">{reasons[verdict]}</span>
        )}
      </div>
    </div>
  )
}
