import { useEffect } from 'preact/hooks'
import { ErrorBoundary, LocationProvider, lazy, Route, Router, useLocation } from 'preact-iso'
import { Home } from './pages/home.tsx'
import { Banners } from './parts/banners.tsx'
import { Boundary } from './parts/boundary.tsx'
import { Door } from './parts/door.tsx'
import { Frame } from './parts/frame.tsx'
import { Questions } from './parts/questions.tsx'
import { Loading } from './parts/state.tsx'
import { Toasts } from './parts/toasts.tsx'
import { me } from './state.ts'

const SignIn = lazy(() => import('./pages/sign-in.tsx'))
const Setup = lazy(() => import('./pages/setup.tsx'))
const Join = lazy(() => import('./pages/join.tsx'))
const Reset = lazy(() => import('./pages/reset.tsx'))
const Account = lazy(() => import('./pages/account.tsx'))
const Overview = lazy(() => import('./pages/overview/overview.tsx'))
const Deliveries = lazy(() => import('./pages/deliveries/deliveries.tsx'))
const Delivery = lazy(() => import('./pages/delivery/delivery.tsx'))
const Receivers = lazy(() => import('./pages/receivers/receivers.tsx'))
const Receiver = lazy(() => import('./pages/receivers/receiver.tsx'))
const Members = lazy(() => import('./pages/members.tsx'))
const Installations = lazy(() => import('./pages/installations.tsx'))
const Installation = lazy(() => import('./pages/installation/page.tsx'))
const Integrations = lazy(() => import('./pages/integrations.tsx'))
const Integration = lazy(() => import('./pages/integration/page.tsx'))
const Forward = lazy(() => import('./pages/integration/forward.tsx'))
const Install = lazy(() => import('./pages/install/page.tsx'))
const Unknown = lazy(() => import('./pages/unknown.tsx'))

/** The browser follows links to these itself: they are no pages of the console. */
const ownPages = /^\/(?!(?:v1|x|connect|assets)\/|healthz$|readyz$|metrics$|openapi\.json$)/
/** Pages for people who are not signed in. */
const doors: ReadonlySet<string> = new Set(['/sign-in', '/setup', '/join', '/reset'])

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
        <Route path="/setup" component={Setup} />
        <Route path="/join" component={Join} />
        <Route path="/reset" component={Reset} />
        <Route path="/account" component={Account} />
        <Route path="/orgs/:org" component={Overview} />
        <Route path="/orgs/:org/deliveries" component={Deliveries} />
        <Route path="/orgs/:org/deliveries/:delivery" component={Delivery} />
        <Route path="/orgs/:org/receivers" component={Receivers} />
        <Route path="/orgs/:org/receivers/:receiver" component={Receiver} />
        <Route path="/orgs/:org/installations" component={Installations} />
        <Route path="/orgs/:org/installations/:installation/:rest*" component={Installation} />
        <Route path="/orgs/:org/integrations" component={Integrations} />
        <Route path="/orgs/:org/integrations/:integration" component={Integration} />
        <Route path="/orgs/:org/integrations/:integration/install" component={Install} />
        <Route path="/integrations/:integration" component={Forward} />
        <Route path="/orgs/:org/members" component={Members} />
        <Route default component={Unknown} />
      </Router>
    </ErrorBoundary>
  )
}
