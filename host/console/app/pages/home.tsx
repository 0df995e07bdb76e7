import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { findFirstOrganization } from '../first-organization.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Loading } from '../parts/state.tsx'
import { texts } from '../texts.ts'
import { useLoad } from '../use-load.ts'

/** `/` leads to an organization. Links of Annex 0.3 and before name a page in the fragment, as `/#/orgs/acme/…`. */
export function Home() {
  const { route } = useLocation()
  const { value: to, error, reload } = useLoad('home', findFirst)
  useEffect(() => {
    if (to !== undefined) route(to, true)
  }, [to, route])
  return error === undefined ? (
    <Loading />
  ) : (
    <ErrorNote error={error} next={{ label: texts.tryAgain, act: reload }} />
  )
}

async function findFirst(): Promise<string> {
  const former = /^#(\/(?:orgs|integrations)\/.*)/.exec(location.hash)?.[1]
  if (former !== undefined) return former.replace(/\/+$/, '')
  const name = await findFirstOrganization()
  return name === undefined ? '/account' : `/orgs/${name}`
}
