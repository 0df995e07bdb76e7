import { useLocation } from 'preact-iso'
import { api } from '../api.ts'
import { Action } from '../parts/action.tsx'
import { Form } from '../parts/form.tsx'
import { Head } from '../parts/head.tsx'
import { type NewWayIn, NewWayInForm } from '../parts/new-way-in.tsx'
import { OneTimeLink } from '../parts/one-time-link.tsx'
import { loadPerson } from '../person.ts'
import { me } from '../state.ts'
import { texts } from '../texts.ts'

/** An invitation: a new person makes an account, a signed-in one joins with it. */
export default function JoinPage() {
  const { route } = useLocation()
  return (
    <OneTimeLink kind="invitation" broken={texts.join.broken}>
      {(link, { organization, role, email, name }) => {
        const title = organization?.title ?? ''
        const enter = async () => {
          await loadPerson()
          route(organization === undefined ? '/' : `/orgs/${organization.subdomain}`, true)
        }
        const create = async (given: { email: string; name: string; way: NewWayIn }) => {
          const { way, name } = given
          await api.call('POST /v1/accounts', { body: { link, ...(name && { name }), ...way } })
          await enter()
        }
        const accept = async () => {
          await api.call('POST /v1/account/memberships', { body: { link } })
          await enter()
        }
        const leave = async () => {
          await api.call('DELETE /v1/sessions/{session}', { params: { session: 'current' } })
          me.value = null
        }
        const person = me.value?.account
        return (
          <>
            <Head title={texts.join.title(title)} />
            <p>{texts.join.what(title, role ?? '')}</p>
            {person ? (
              <>
                <Form submit={accept} label={texts.join.as(person.name || person.email)}>
                  {null}
                </Form>
                <Action kind="plain" act={leave}>
                  {texts.join.other}
                </Action>
              </>
            ) : (
              <>
                <NewWayInForm email={email} name={name} enter={create} />
                <p class="muted small">
                  {texts.join.known}{' '}
                  <a href={`/sign-in?next=${encodeURIComponent(`/join#${link}`)}`}>{texts.signIn.action}</a>
                </p>
              </>
            )}
          </>
        )
      }}
    </OneTimeLink>
  )
}
