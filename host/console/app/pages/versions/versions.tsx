import { useRoute } from 'preact-iso'
import { api } from '../../api.ts'
import { Action } from '../../parts/action.tsx'
import { useAttempt } from '../../parts/attempt.ts'
import { Boundary } from '../../parts/boundary.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Head } from '../../parts/head.tsx'
import { OperatorsOnly } from '../../parts/permitted.tsx'
import { me, sayDone } from '../../state.ts'
import { navigationTexts } from '../../texts/navigation.ts'
import { versionTexts as texts } from '../../texts/versions.ts'
import { useLoad } from '../../use-load.ts'
import { DeployedVersions } from './deployed-versions.tsx'
import { Refused, Waiting } from './problems.tsx'

const everyMs = 2_000

/** For operators: the versions of all integrations, what waits, and what does not load. */
export default function VersionsPage() {
  const isOperator = me.value?.account?.operator === true
  return (
    <>
      <Head title={navigationTexts.versions} actions={isOperator && <Reload />}>
        {texts.what}
      </Head>
      <OperatorsOnly>
        <Content />
      </OperatorsOnly>
    </>
  )
}

function Content() {
  const { page } = useRoute().query
  const problems = useLoad(
    'problems of versions',
    (signal) => api.call('GET /v1/problems', { signal }),
    everyMs * 5,
  )
  const of = (kind: string) => problems.value?.items.filter((one) => one.kind === kind) ?? []
  return (
    <>
      <Progress />
      <Refused problems={of('folder')} />
      <Waiting problems={of('waiting_version')} />
      <Boundary>
        <DeployedVersions page={page} />
      </Boundary>
    </>
  )
}

function Reload() {
  const { error, attempt } = useAttempt()
  const reload = () =>
    attempt(async () => {
      const { items } = await api.call('POST /v1/reload')
      const failed = items.filter(({ state }) => state === 'failed').length
      sayDone(texts.reloaded(items.length - failed, failed))
    })
  return (
    <>
      {error !== undefined && <ErrorNote error={error} />}
      <Action kind="main" act={reload}>
        {texts.reload}
      </Action>
    </>
  )
}

/** A load of this host that runs now, by this page or by another one. */
function Progress() {
  const { value } = useLoad('load of folders', (signal) => api.call('GET /v1/reload', { signal }), everyMs)
  if (!value?.running) return null
  return (
    <p class="row" role="status">
      <span class="spinner" aria-hidden="true" />
      {texts.loading(value.loaded, value.total, value.folders)}
    </p>
  )
}
