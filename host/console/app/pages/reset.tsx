import { useLocation } from 'preact-iso'
import { api } from '../api.ts'
import { Head } from '../parts/head.tsx'
import { type NewWayIn, NewWayInForm } from '../parts/new-way-in.tsx'
import { OneTimeLink } from '../parts/one-time-link.tsx'
import { loadPerson } from '../person.ts'
import { texts } from '../texts.ts'

/** A new way in for an account whose passkey or password is lost. */
export default function ResetPage() {
  const { route } = useLocation()
  return (
    <OneTimeLink kind="reset" broken={texts.reset.broken}>
      {(link, { email, name }) => {
        const enter = async ({ way }: { way: NewWayIn }) => {
          await api.call('POST /v1/resets', { body: { link, ...way } })
          await loadPerson()
          route('/', true)
        }
        return (
          <>
            <Head title={texts.reset.title} />
            <p>{texts.reset.what(email ?? '')}</p>
            <NewWayInForm isNew={false} email={email} name={name} enter={enter} />
          </>
        )
      }}
    </OneTimeLink>
  )
}
