import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { findFirstOrganization } from '../first-organization.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Head } from '../parts/head.tsx'
import { Loading } from '../parts/state.tsx'
import { texts } from '../texts.ts'
import { useLoad } from '../use-load.ts'

/** An install link, and `/docs`, name no organization: they lead to the page in that of their reader. */
export default function ForwardPage() {
  const { url, route } = useLocation()
  const { value, error, isLoading, reload } = useLoad('first organization', findFirstOrganization)
  const to = value && `/orgs/${value}${url}`
  useEffect(() => {
    if (to !== undefined) route(to, true)
  }, [to, route])
  if (error !== undefined) return <ErrorNote error={error} next={{ label: texts.tryAgain, act: reload }} />
  if (isLoading || to !== undefined) return <Loading />
  return <Head title={texts.annex}>{texts.noOrganization}</Head>
}
