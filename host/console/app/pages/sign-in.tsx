import { useEffect } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { api } from '../api.ts'
import { leaveForProvider } from '../openid.ts'
import { Action } from '../parts/action.tsx'
import { useAttempt } from '../parts/attempt.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Head } from '../parts/head.tsx'
import { SignInForm, type WayIn } from '../parts/sign-in-form.tsx'
import { loadPerson } from '../person.ts'
import { me } from '../state.ts'
import { openid } from '../texts/openid.ts'
import { texts } from '../texts.ts'
import { useLoad } from '../use-load.ts'

export default function SignInPage() {
  const { route } = useLocation()
  const { query } = useRoute()
  const next = toOwnPath(query.next)
  const isSignedIn = Boolean(me.value)
  useEffect(() => {
    if (isSignedIn) route(next, true)
  }, [isSignedIn, next, route])
  const { value } = useLoad('sign-in page', () => api.call('GET /v1/sign-in'))
  const enter = async (way: WayIn, email: string) => {
    await api.call('POST /v1/sessions', { body: 'password' in way ? { email, ...way } : way })
    // A person who is signed in is led on.
    await loadPerson()
  }
  const { error: openidError, attempt } = useAttempt()
  const openidButton = (name: string) => (
    <Action kind="main wide" act={() => attempt(() => leaveForProvider('sign_in', next))}>
      {openid.signIn(name)}
    </Action>
  )
  if (value?.needsSetup) {
    return (
      <>
        <Head title={texts.setup.first} />
        <p>{texts.setup.open}</p>
        <pre>{`http://localhost:${location.port || 80}/setup#annex_setup_…`}</pre>
        <p class="muted small">{texts.setup.where}</p>
      </>
    )
  }
  return (
    <>
      <Head title={texts.signIn.title(location.hostname)} />
      {openidError !== undefined && <ErrorNote error={openidError} />}
      <SignInForm
        enter={enter}
        label={texts.signIn.action}
        openid={{ isOnly: false, button: openidButton }}
      />
      <p class="muted small">{texts.signIn.lost}</p>
    </>
  )
}

/** Attack: a link to `/sign-in?next=https://…` would hand a person on to another server. */
function toOwnPath(next: string | undefined): string {
  const url = next === undefined ? null : URL.parse(next, location.origin)
  return url?.origin === location.origin ? url.pathname + url.search + url.hash : '/'
}
