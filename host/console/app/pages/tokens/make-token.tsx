import { useState } from 'preact/hooks'
import type { MadeToken } from '../../../../../schemas/generated/api/tokens.ts'
import { Choice, Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { type PersonRole, reasonAgainst, roleHere } from '../../person.ts'
import { me } from '../../state.ts'
import { tokenTexts as texts } from '../../texts/tokens.ts'
import { texts as general } from '../../texts.ts'
import type { Owner } from './owner.ts'

const day = 86_400_000
type Role = Exclude<PersonRole, 'operator'>
const roles = ['reader', 'editor', 'admin'] as const satisfies readonly Role[]

/** A token of a person belongs to the person's membership. One that an operator makes belongs to no member. */
export function MakeToken({ owner, onMade }: { owner: Owner; onMade: (token: MadeToken) => void }) {
  const [label, setLabel] = useState('')
  const [role, setRole] = useState<Role>('reader')
  const [days, setDays] = useState('90')
  const make = async () => {
    const expiresAt = days === 'never' ? undefined : new Date(Date.now() + Number(days) * day).toISOString()
    onMade(
      await owner.make({
        label: label.trim(),
        ...(owner.hasRoles && { role }),
        ...(expiresAt !== undefined && { expiresAt }),
      }),
    )
    setLabel('')
  }
  const reason = reasonAgainst(owner.operations.make)
  const isMember = roleHere() !== 'operator' && me.value !== null
  return (
    <section class="card">
      <h2>{texts.make}</h2>
      <Form submit={make} label={texts.make} reason={reason}>
        <Field
          label={texts.label}
          hint={texts.labelHint}
          autocomplete="off"
          value={label}
          onValue={setLabel}
        />
        {owner.hasRoles && (
          <Choice
            label={texts.role}
            value={role}
            options={roles.map((value) => ({ value, label: general.members.roles[value] }))}
            onValue={(value) => setRole(roles.find((one) => one === value) ?? 'reader')}
          />
        )}
        <Choice
          label={texts.expires}
          value={days}
          options={Object.entries(texts.expiries).map(([value, label]) => ({ value, label }))}
          onValue={setDays}
        />
      </Form>
      {isMember && reason === undefined && <p class="muted small">{texts.belongs}</p>}
    </section>
  )
}
