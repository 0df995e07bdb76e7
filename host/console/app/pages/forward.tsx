import { useEffect } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { findFirstOrganization } from '../../first-organization.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Head } from '../../parts/head.tsx'
import { Loading } from '../../parts/state.tsx'
import { texts } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'

/** An install link names no organization: it leads to the page of the integration in that of its holder. */
export default function ForwardPage() {
  const { integration = '' } = useRoute().params
  const { route } = useLocation()
  const { value, error, isLoading, reload } = useLoad('first organization', findFirstOrganization)
  const to = value && `/orgs/${value}/integrations/${encodeURIComponent(integration)}${location.search}`
  useEffect(() => {
    if (to !== undefined) route(to, true)
  }, [to, route])
  if (error !== undefined) return <ErrorNote error={error} next={{ label: texts.tryAgain, act: reload }} />
  if (isLoading || to !== undefined) return <Loading />
  return <Head title={integration}>{texts.integration.noOrganization}</Head>
}
