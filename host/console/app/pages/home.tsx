import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { api } from '../api.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Loading } from '../parts/state.tsx'
import { lastOrganization, me } from '../state.ts'
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
  const last = lastOrganization()
  const ofPerson = me.value?.memberships?.map(({ organization }) => organization.subdomain) ?? []
  if (me.value?.account?.operator !== true) {
    const name = ofPerson.find((one) => one === last) ?? ofPerson[0]
    return name === undefined ? '/account' : `/orgs/${name}`
  }
  const { items } = await api.call('GET /v1/orgs', { query: { limit: 100 } })
  const found = items.find(({ subdomain }) => subdomain === last) ?? items[0]
  return found === undefined ? '/account' : `/orgs/${found.subdomain}`
}
