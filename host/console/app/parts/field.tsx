import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { texts } from '../texts.ts'
import { Icon } from './icon.tsx'

type FieldProps = {
  label: string
  hint?: ComponentChildren
  wrong?: string | undefined
  value: string
  onValue: (value: string) => void
  type?: 'text' | 'email' | 'password' | 'url'
  autocomplete?: AutoFill
  required?: boolean
  readOnly?: boolean
  minLength?: number
}
/** What a browser and a password store fill in. */
type AutoFill = 'off' | 'name' | 'email' | 'username' | 'current-password' | 'new-password'

/** An input with its label, a hint, and what is wrong with it. */
export function Field({ label, hint, wrong, value, onValue, type = 'text', ...input }: FieldProps) {
  const id = useId()
  const described = [hint && `${id}-hint`, wrong && `${id}-wrong`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...input}
        // The types of Preact have a form for each type of an input.
        type={type as 'text'}
        id={id}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
        aria-describedby={described || undefined}
        aria-invalid={wrong ? 'true' : undefined}
      />
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {wrong && (
        <span class="wrong" id={`${id}-wrong`} role="alert">
          <Icon name="warning" />
          {wrong}
        </span>
      )}
    </div>
  )
}

/** A password store reads from it whose password a form is for. */
export const Username = ({ value }: { value: string }) => (
  <input hidden type="text" autocomplete="username" value={value} readOnly />
)

/** A password that a person chooses. `email`: whose it is. */
export const NewPassword = ({
  email,
  value,
  onValue,
}: { email: string } & Pick<FieldProps, 'value' | 'onValue'>) => (
  <>
    <Username value={email} />
    <Field
      label={texts.newPassword}
      hint={texts.passwordHint}
      type="password"
      autocomplete="new-password"
      required
      minLength={12}
      value={value}
      onValue={onValue}
    />
  </>
)

export function Choice({
  label,
  hint,
  value,
  options,
  onValue,
  isHidden,
}: {
  label: string
  hint?: string
  value: string
  options: readonly { value: string; label: string }[]
  onValue: (value: string) => void
  /** The label is there for screen readers alone. */
  isHidden?: boolean
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id} class={isHidden ? 'visually-hidden' : ''}>
        {label}
      </label>
      <select id={id} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      {hint && <span class="hint">{hint}</span>}
    </div>
  )
}
