import { useLocation } from 'preact-iso'
import { api } from '../api.ts'
import { Head } from '../parts/head.tsx'
import { type NewWayIn, NewWayInForm } from '../parts/new-way-in.tsx'
import { OneTimeLink } from '../parts/one-time-link.tsx'
import { loadPerson } from '../person.ts'
import { texts } from '../texts.ts'

/** The first page of a new Annex: it makes the operator's account. */
export default function SetupPage() {
  const { route } = useLocation()
  return (
    <OneTimeLink kind="setup" broken={texts.setup.broken}>
      {(link) => {
        const enter = async ({ email, name, way }: { email: string; name: string; way: NewWayIn }) => {
          await api.call('POST /v1/accounts', { body: { link, email, ...(name && { name }), ...way } })
          await loadPerson()
          route('/', true)
        }
        return (
          <>
            <Head title={texts.setup.title} />
            <p>{texts.setup.what}</p>
            <NewWayInForm enter={enter} />
          </>
        )
      }}
    </OneTimeLink>
  )
}
