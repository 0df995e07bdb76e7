import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { ErrorBoundary, LocationProvider, lazy, Route, Router, useLocation } from 'preact-iso'
import { Home } from './pages/home.tsx'
import { Banners } from './parts/banners.tsx'
import { Boundary } from './parts/boundary.tsx'
import { Door } from './parts/door.tsx'
import { ErrorNote } from './parts/error-note.tsx'
import { Frame } from './parts/frame.tsx'
import { Questions } from './parts/questions.tsx'
import { Loading } from './parts/state.tsx'
import { Toasts } from './parts/toasts.tsx'
import { preloadPages } from './preload.ts'
import { me } from './state.ts'
import { texts } from './texts.ts'

const SignIn = page(() => import('./pages/sign-in.tsx'))
const Openid = page(() => import('./pages/openid.tsx'))
const Setup = page(() => import('./pages/setup.tsx'))
const Join = page(() => import('./pages/join.tsx'))
const Reset = page(() => import('./pages/reset.tsx'))
const Account = page(() => import('./pages/account.tsx'))
const Overview = page(() => import('./pages/overview/overview.tsx'))
const Deliveries = page(() => import('./pages/deliveries/deliveries.tsx'))
const Delivery = page(() => import('./pages/delivery/delivery.tsx'))
const Dispatches = page(() => import('./pages/dispatches/dispatches.tsx'))
const Dispatch = page(() => import('./pages/dispatch/dispatch.tsx'))
const FailedWork = page(() => import('./pages/failed-work/failed-work.tsx'))
const Job = page(() => import('./pages/failed-work/job.tsx'))
const Logs = page(() => import('./pages/logs/logs.tsx'))
const Receivers = page(() => import('./pages/receivers/receivers.tsx'))
const Receiver = page(() => import('./pages/receivers/receiver.tsx'))
const Members = page(() => import('./pages/members.tsx'))
const Installations = page(() => import('./pages/installations.tsx'))
const Installation = page(() => import('./pages/installation/page.tsx'))
const Integrations = page(() => import('./pages/integrations.tsx'))
const Integration = page(() => import('./pages/integration/page.tsx'))
const Forward = page(() => import('./pages/forward.tsx'))
const Install = page(() => import('./pages/install/page.tsx'))
const Reference = page(() => import('./pages/reference/reference.tsx'))
const OperationPage = page(() => import('./pages/reference/operation.tsx'))
const RecordPage = page(() => import('./pages/reference/record.tsx'))
const Tokens = page(() => import('./pages/tokens/tokens.tsx'))
const AnnexTokens = page(() => import('./pages/tokens/annex-tokens.tsx'))
const Audit = page(() => import('./pages/audit/audit.tsx'))
const AnnexAudit = page(() => import('./pages/audit/annex-audit.tsx'))
const Places = page(() => import('./pages/places/places.tsx'))
const Site = page(() => import('./pages/site/page.tsx'))
const Usage = page(() => import('./pages/usage/usage.tsx'))
const Versions = page(() => import('./pages/versions/versions.tsx'))
const Space = page(() => import('./pages/space/page.tsx'))
const Unknown = page(() => import('./pages/unknown.tsx'))

/** A page has a file of its own. A tab that is older than the host may ask for a file that is gone. */
function page(load: () => Promise<{ default: () => VNode }>) {
  const Page = lazy(() => load().catch((error: unknown) => ({ default: () => <NotLoaded error={error} /> })))
  // A page whose files are there is drawn at once.
  return Object.assign(Page, { load: () => load().then(Page.preload) })
}

const NotLoaded = ({ error }: { error: unknown }) => (
  <ErrorNote
    error={error}
    what={texts.notLoaded}
    next={{ label: texts.reload, act: () => location.reload() }}
  />
)

/** The browser follows links to these itself: they are no pages of the console. */
const ownPages = /^\/(?!(?:v1|x|connect|assets)\/|healthz$|readyz$|metrics$|openapi\.json$)/
/** Pages for people who are not signed in. */
const doors: ReadonlySet<string> = new Set(['/sign-in', '/sign-in/openid', '/setup', '/join', '/reset'])

export function App() {
  return (
    <LocationProvider scope={ownPages}>
      <Banners />
      <Boundary>
        <Pages />
      </Boundary>
      <Questions />
      <Toasts />
    </LocationProvider>
  )
}

function Pages() {
  const { path, url, route } = useLocation()
  const isDoor = doors.has(path)
  const mustSignIn = me.value === null && !isDoor
  const isInside = Boolean(me.value) && !isDoor
  useEffect(() => {
    if (isInside) preloadCommon()
  }, [isInside])
  useEffect(() => {
    if (mustSignIn)
      route(path === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(url + location.hash)}`, true)
  }, [mustSignIn, path, url, route])
  if (isDoor) {
    return (
      <Door>
        <Routes />
      </Door>
    )
  }
  if (!me.value) return <Loading />
  return (
    <Frame>
      <Routes />
    </Frame>
  )
}

function Routes() {
  return (
    <ErrorBoundary>
      <Router>
        <Route path="/" component={Home} />
        <Route path="/sign-in" component={SignIn} />
        <Route path="/sign-in/openid" component={Openid} />
        <Route path="/setup" component={Setup} />
        <Route path="/join" component={Join} />
        <Route path="/reset" component={Reset} />
        <Route path="/account" component={Account} />
        <Route path="/orgs/:org" component={Overview} />
        <Route path="/orgs/:org/deliveries" component={Deliveries} />
        <Route path="/orgs/:org/deliveries/:delivery" component={Delivery} />
        <Route path="/orgs/:org/dispatches" component={Dispatches} />
        <Route path="/orgs/:org/dispatches/:dispatch" component={Dispatch} />
        <Route path="/orgs/:org/failed-work" component={FailedWork} />
        <Route path="/orgs/:org/failed-work/:job" component={Job} />
        <Route path="/orgs/:org/logs" component={Logs} />
        <Route path="/orgs/:org/receivers" component={Receivers} />
        <Route path="/orgs/:org/receivers/:receiver" component={Receiver} />
        <Route path="/orgs/:org/installations" component={Installations} />
        <Route path="/orgs/:org/installations/:installation/:rest*" component={Installation} />
        <Route path="/orgs/:org/integrations" component={Integrations} />
        <Route path="/orgs/:org/integrations/:integration" component={Integration} />
        <Route path="/orgs/:org/integrations/:integration/install" component={Install} />
        <Route path="/integrations/:integration" component={Forward} />
        <Route path="/docs/:rest*" component={Forward} />
        <Route path="/orgs/:org/docs" component={Reference} />
        <Route path="/orgs/:org/docs/records/:record" component={RecordPage} />
        <Route path="/orgs/:org/docs/:operation" component={OperationPage} />
        <Route path="/orgs/:org/members" component={Members} />
        <Route path="/orgs/:org/tokens" component={Tokens} />
        <Route path="/tokens" component={AnnexTokens} />
        <Route path="/orgs/:org/audit" component={Audit} />
        <Route path="/audit" component={AnnexAudit} />
        <Route path="/orgs/:org/places" component={Places} />
        <Route path="/orgs/:org/sites/:site/:rest*" component={Site} />
        <Route path="/orgs/:org/usage" component={Usage} />
        <Route path="/versions" component={Versions} />
        <Route path="/orgs/:org/spaces/:space/:rest*" component={Space} />
        <Route default component={Unknown} />
      </Router>
    </ErrorBoundary>
  )
}

const preloadCommon = preloadPages(Routes().props.children.props.children)
