import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Attempt, DeliveryWithAttempts } from '../../../../schemas/generated/api/deliveries.ts'
import { checkSignature, clockOffset, commonLength, type Verdict } from '../deliveries/signature.ts'
import { texts } from '../texts.ts'
import { Field } from './field.tsx'
import { Form } from './form.tsx'
import { Icon } from './icon.tsx'
import { TextArea } from './text-area.tsx'

/** Says that the last attempt was signed with the secret that the page was given. */
export function SignatureNote({ delivery, secret }: { delivery: DeliveryWithAttempts; secret: string }) {
  const last = delivery.attemptList.at(-1)
  if (last === undefined || delivery.body === undefined) return null
  const sent = { headers: last.request.headers, body: delivery.body }
  return <VerdictNote verdict={checkSignature(sent, secret)} />
}

/** A receiver's author pastes the secret that the receiver has. It stays in this page. */
export function CheckSecret({ attempt, body }: { attempt: Attempt; body: string }) {
  const [secret, setSecret] = useState('')
  const [received, setReceived] = useState('')
  const [checked, setChecked] = useState<{ verdict: Verdict; received: string }>()
  const check = async () => {
    const sent = { headers: attempt.request.headers, body }
    const verdict = checkSignature(sent, secret.trim(), received === '' ? body : received)
    setChecked({ verdict, received })
  }
  const changing = (set: (value: string) => void) => (value: string) => {
    set(value)
    setChecked(undefined)
  }
  return (
    <details>
      <summary>{texts.signature.check}</summary>
      <Form submit={check} label={texts.signature.action}>
        <Field
          label={texts.signature.secret}
          hint={texts.signature.hint}
          type="password"
          autocomplete="off"
          required
          value={secret}
          onValue={changing(setSecret)}
        />
        <TextArea
          label={texts.signature.received}
          hint={texts.signature.receivedHint}
          value={received}
          onValue={changing(setReceived)}
        />
        {checked && (
          <VerdictNote verdict={checked.verdict} attempt={attempt}>
            {checked.verdict === 'changed' && <Difference sent={body} read={checked.received} />}
          </VerdictNote>
        )}
      </Form>
    </details>
  )
}

function VerdictNote({
  verdict,
  attempt,
  children,
}: {
  verdict: Verdict
  /** With it the clock of the receiver is compared, too. */
  attempt?: Attempt
  children?: ComponentChildren
}) {
  const isGood = verdict === 'matches'
  const tone = isGood ? 'good' : verdict === 'missing' ? 'warning' : 'bad'
  return (
    <div class={`note ${tone}`} role="status">
      <Icon name={isGood ? 'check' : 'warning'} />
      <div>
        {isGood && (
          <>
            <strong>{texts.signature.verified}</strong>
            <span class="detail small">{texts.signature.how}</span>
            {attempt && <Clock offset={clockOffset(attempt)} />}
          </>
        )}
        {verdict === 'other-secret' && (
          <>
            <strong>{texts.signature.other}</strong>
            <span class="detail">{texts.signature.otherNext}</span>
          </>
        )}
        {verdict === 'missing' && <strong>{texts.signature.missing}</strong>}
        {children}
      </div>
    </div>
  )
}

function Clock({ offset }: { offset: number | undefined }) {
  if (offset === undefined) return <span class="detail small">{texts.signature.clockUnknown}</span>
  if (offset === 0) return <span class="detail small">{texts.signature.clockRight}</span>
  return <strong class="detail">{texts.signature.clock(offset)}</strong>
}

const shownAround = 20

/** The texts around the first character that differs. Spaces and line breaks are written so that they can be seen. */
function Difference({ sent, read }: { sent: string; read: string }) {
  const at = commonLength(sent, read)
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - shownAround), at + shownAround))
  return (
    <>
      <strong>{texts.signature.changed(at + 1)}</strong>
      <span class="detail">
        {texts.signature.sent}: <code>{around(sent)}</code>
      </span>
      <span class="detail">
        {texts.signature.read}: <code>{around(read)}</code>
      </span>
      <span class="detail">{texts.signature.changedNext}</span>
    </>
  )
}
