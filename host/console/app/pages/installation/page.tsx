import { useCallback, useEffect, useState } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import { api } from '../../api.ts'
import { type EditedLevel, type ReadLevel, readLevel } from '../../level.ts'
import { type LevelName, type Place, parseRest, pathOf } from '../../level-address.ts'
import { Boundary } from '../../parts/boundary.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Head } from '../../parts/head.tsx'
import { toSettings } from '../../parts/settings/settings.ts'
import { Loaded } from '../../parts/state.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { installationTexts as texts } from '../../texts/installation.ts'
import { statusTexts } from '../../texts/status-changes.ts'
import { useLoad } from '../../use-load.ts'
import { LevelActions } from './actions.tsx'
import { ActivityTab } from './activity-tab.tsx'
import { ConnectionTab } from './connection-tab.tsx'
import { LogTab } from './log-tab.tsx'
import { PermissionsTab } from './permissions-tab.tsx'
import { SettingsTab } from './settings-tab.tsx'
import { StatusTab } from './status-tab.tsx'

const tabs = {
  '': { label: texts.tabs.settings, Tab: SettingsTab },
  connection: { label: texts.tabs.connection, Tab: ConnectionTab },
  permissions: { label: texts.tabs.permissions, Tab: PermissionsTab },
  status: { label: statusTexts.tab, Tab: StatusTab },
  activity: { label: texts.tabs.activity, Tab: ActivityTab },
  log: { label: texts.tabs.log, Tab: LogTab },
} as const

/** A state that changes by itself is read more often. */
const [pendingMs, steadyMs] = [1_000, 4_000]

/** An installation, or its site or space installation: each part has an address. */
export default function InstallationPage() {
  const { org = '', installation = '', rest = '' } = useRoute().params
  const { place, tab } = parseRest(rest)
  const name: LevelName = { org, installation, place }
  const [isPending, setIsPending] = useState(true)
  const load = useLoad(pathOf(name), (signal) => readLevel(name, signal), isPending ? pendingMs : steadyMs)
  const { read, onSaved } = useEdited(load)
  const status = read?.level.status
  useEffect(() => setIsPending(status === undefined || status === 'pending'), [status])
  const titles = useLoad(`titles ${pathOf(name)} ${read?.account.integration}`, async (signal) =>
    read === undefined ? undefined : readTitles(read, signal),
  )
  const title = titles.value?.title ?? read?.account.integration ?? texts.list.one
  const placeTitle = place && (titles.value?.place ?? place.id)
  const shownTitle = placeTitle === undefined ? title : texts.inPlace(title, placeTitle)
  const known = tabs[tab as keyof typeof tabs]
  return (
    <>
      <Head
        title={shownTitle}
        crumbs={[
          { label: org, href: `/orgs/${org}` },
          { label: texts.list.title, href: `/orgs/${org}/installations` },
          ...(place === undefined
            ? [{ label: title }]
            : [{ label: title, href: pathOf({ org, installation }) }, { label: placeTitle ?? '' }]),
        ]}
        state={read && <Chip state={read.level.status} />}
        actions={read && <LevelActions read={read} title={title} place={placeTitle} onSaved={onSaved} />}
      >
        {read && sentenceOf(read, titles.value?.description)}
      </Head>
      <Tabs
        label={texts.tabs.label}
        tabs={Object.entries(tabs).map(([id, { label }]) => ({ id, label, href: pathOf(name, id) }))}
        current={tab}
      />
      <Loaded of={{ ...load, value: read }}>
        {(shown) =>
          known === undefined ? (
            <p>{texts.unknownTab}</p>
          ) : (
            <Boundary key={tab}>
              <known.Tab read={shown} title={title} place={placeTitle} onSaved={onSaved} />
            </Boundary>
          )
        }
      </Loaded>
    </>
  )
}

/** Shows what an edit answered until the level is read again. Times of the API are texts that sort. */
function useEdited(load: { value?: ReadLevel | undefined; reload: () => void }) {
  const [edited, setEdited] = useState<EditedLevel>()
  const { value, reload } = load
  const onSaved = useCallback(
    (given?: EditedLevel) => {
      if (given !== undefined) setEdited(given)
      reload()
    },
    [reload],
  )
  // A read that began before the edit may end after it.
  const isNewer = value && edited && value.level.updatedAt < edited.level.updatedAt
  return { read: isNewer ? { ...value, ...edited } : value, onSaved }
}

async function readTitles({ account, name: { org, place } }: ReadLevel, signal: AbortSignal) {
  const { integration } = account
  const [found, own] = await Promise.all([
    api
      .call('GET /v1/integrations/{integration}', { params: { integration }, signal })
      .catch(() => undefined),
    place === undefined ? undefined : readPlaceTitle(org, place, signal).catch(() => undefined),
  ])
  return { title: found?.title ?? integration, description: found?.description, place: own }
}

async function readPlaceTitle(org: string, { kind, id }: Place, signal: AbortSignal): Promise<string> {
  if (kind === 'site')
    return (await api.call('GET /v1/orgs/{org}/sites/{site}', { params: { org, site: id }, signal })).title
  return (await api.call('GET /v1/spaces/{space}', { params: { space: id }, signal })).title
}

/** One sentence: what it does now, or what it still waits for. */
function sentenceOf({ account, level, form }: ReadLevel, description: string | undefined): string {
  const { status, statusReason, problems = [] } = level
  if (status === 'active') return description || texts.state.active
  if (status !== 'pending') return statusReason ?? texts.state[status]
  if (problems.length > 0) {
    const titles = new Map(toSettings(form.schema).map(({ name, title }) => [name, title]))
    const names = problems.map(({ path }) => path.replace('/configuration/', ''))
    return texts.state.waitsFor(names.map((name) => titles.get(name) ?? name))
  }
  // The page shows the command itself.
  if (statusReason !== undefined) return statusReason.replace(/: npx annex .*$/s, '.')
  return account.status === 'pending' && level.object !== 'installation'
    ? texts.state.above
    : texts.state.setup
}
