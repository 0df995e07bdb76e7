import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { api } from '../api.ts'
import { problemCount, useProblems } from '../problems.ts'
import { lastOrganization, me, organizationInAddress, rememberOrganization } from '../state.ts'
import { texts } from '../texts.ts'
import { useLoad } from '../use-load.ts'
import { Boundary } from './boundary.tsx'
import { Choice } from './field.tsx'
import { FindButton, useFind } from './find-button.tsx'
import { Icon, Mark } from './icon.tsx'
import { annexGroup, groups, type Link, overview } from './navigation-links.ts'
import { TabIcon } from './tab-icon.tsx'

/** Navigation on the left, the page on the right. Below 800 px the navigation is a bar with a menu. */
export function Frame({ children }: { children: ComponentChildren }) {
  const { path } = useLocation()
  const [isOpen, setIsOpen] = useState(false)
  // Before the next click, which may open it again.
  useLayoutEffect(() => setIsOpen(false), [path])
  const organization = organizationInAddress() ?? lastOrganization() ?? undefined
  useProblems(organizationInAddress())
  const find = useFind(organization)
  return (
    <div class="frame">
      <TabIcon />
      <a class="skip" href="#main">
        {texts.skip}
      </a>
      <header class={`side ${isOpen ? 'open' : ''}`}>
        <a class="brand" href={organization ? `/orgs/${organization}` : '/'}>
          <Mark />
          {texts.annex}
        </a>
        <Boundary>
          <OrganizationSwitch current={organization} />
        </Boundary>
        <button
          type="button"
          class="menu"
          aria-expanded={isOpen}
          aria-label={texts.menu}
          onClick={() => setIsOpen(!isOpen)}
        >
          <Icon name="menu" />
        </button>
        <nav aria-label={texts.pages}>
          {organization !== undefined && (
            <>
              <FindButton open={find.open} />
              <ul>
                <PageLink base={`/orgs/${organization}`} link={overview} />
              </ul>
              {groups.map((group) => (
                <Group key={group.title} base={`/orgs/${organization}`} {...group} />
              ))}
            </>
          )}
          {me.value?.account?.operator && <Group base="" {...annexGroup} />}
        </nav>
        <div class="person">
          <a href="/account" aria-current={path === '/account' ? 'page' : undefined}>
            <Icon name="person" />
            {me.value?.account?.name || me.value?.account?.email}
          </a>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Boundary key={path}>{children}</Boundary>
      </main>
      {find.dialog}
    </div>
  )
}

const Group = ({ base, title, links }: { base: string; title: string; links: readonly Link[] }) => (
  <div class="group">
    <h2>{title}</h2>
    <ul aria-label={title}>
      {links.map((link) => (
        <PageLink key={link.path} base={base} link={link} />
      ))}
    </ul>
  </div>
)

function PageLink({ base, link: { path: rest, label, icon, also = [] } }: { base: string; link: Link }) {
  const { path } = useLocation()
  return (
    <li>
      <a
        href={`${base}${rest}`}
        aria-current={[rest, ...also].some((one) => isAt(path, base, one)) ? 'page' : undefined}
      >
        <Icon name={icon} />
        {label}
        {rest === '' && <Count />}
      </a>
    </li>
  )
}

/** What needs the person. */
function Count() {
  const count = problemCount()
  return count === 0 ? null : (
    <span class="count">
      <span aria-hidden="true">{count}</span>
      <span class="visually-hidden">{texts.overview.needs(count)}</span>
    </span>
  )
}

const isAt = (path: string, base: string, rest: string): boolean =>
  rest === '' ? path === base : path === base + rest || path.startsWith(`${base}${rest}/`)

function OrganizationSwitch({ current }: { current: string | undefined }) {
  const { route } = useLocation()
  const isOperator = me.value?.account?.operator === true
  const { value = [] } = useLoad(`organizations ${isOperator}`, async () => {
    const { items } = isOperator
      ? await api.call('GET /v1/orgs', { query: { limit: 100 } })
      : { items: undefined }
    return items ?? me.value?.memberships?.map(({ organization }) => organization) ?? []
  })
  const named = value.find(({ id, subdomain }) => id === current || subdomain === current)
  useLayoutEffect(() => {
    if (named !== undefined) rememberOrganization(named.subdomain)
  }, [named])
  const options = value.map(({ subdomain, title }) => ({ value: subdomain, label: title }))
  // An organization that the person may not see: the page says so.
  const shown = named
    ? options
    : [{ value: current ?? '', label: current ?? texts.chooseOrganization }, ...options]
  return (
    <div class="switch">
      <Choice
        isHidden
        label={texts.organization}
        value={named?.subdomain ?? current ?? ''}
        options={shown}
        onValue={(name) => route(`/orgs/${name}`)}
      />
    </div>
  )
}
