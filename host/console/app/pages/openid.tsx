import { useEffect, useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { api } from '../api.ts'
import { callbackPath, leaveBeside, takeLeft, tellDone } from '../openid.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Head } from '../parts/head.tsx'
import { Loading } from '../parts/state.tsx'
import { loadPerson } from '../person.ts'
import { me } from '../state.ts'
import { openid as texts } from '../texts/openid.ts'

type State = { kind: 'runs' } | { kind: 'done' } | { kind: 'failed'; error: unknown; isBeside: boolean }

/**
 * The provider leads back here. The request that finishes the sign-in comes from this page: a browser sends the strict cookie of the
 * session with it, and would not with the redirect.
 */
export default function OpenidPage() {
  const { route } = useLocation()
  const { query } = useRoute()
  const [state, setState] = useState<State>({ kind: 'runs' })
  const isLoaded = me.value !== undefined
  useEffect(() => {
    if (isLoaded) void run()
  }, [isLoaded])

  async function run(): Promise<void> {
    const { begin } = query
    if (begin === 'sign_in' || begin === 'confirm') {
      // A session that has ended cannot be confirmed.
      return leaveBeside(me.value ? begin : 'sign_in').catch((error) =>
        setState({ kind: 'failed', error, isBeside: true }),
      )
    }
    const { next, isBeside } = takeLeft()
    const answer = location.search
    // The code must not stay in the history of the browser.
    history.replaceState(null, '', callbackPath)
    try {
      if (answer === '') throw new Error(texts.nothing)
      await api.call('POST /v1/openid/callbacks', { body: { query: answer } })
      if (isBeside) {
        tellDone()
        setState({ kind: 'done' })
        return window.close()
      }
      await loadPerson()
      route(next ?? '/', true)
    } catch (error) {
      setState({ kind: 'failed', error, isBeside })
    }
  }

  if (state.kind === 'runs') {
    return (
      <>
        <Head title={texts.title} />
        <p class="muted">{texts.runs}</p>
        <Loading />
      </>
    )
  }
  if (state.kind === 'done') {
    return (
      <>
        <Head title={texts.done} />
        <p>{texts.closeDone}</p>
      </>
    )
  }
  return (
    <>
      <Head title={texts.failed} />
      <ErrorNote error={state.error} />
      {state.isBeside ? (
        <p>{texts.closeFailed}</p>
      ) : (
        <p>{me.value ? <a href="/account">{texts.backToAccount}</a> : <a href="/sign-in">{texts.back}</a>}</p>
      )}
    </>
  )
}
