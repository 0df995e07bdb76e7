import { useState } from 'preact/hooks'
import { ApiError } from '../../../../../schemas/client.ts'
import type { Version, VersionDifference } from '../../../../../schemas/generated/api/versions.ts'
import { api } from '../../api.ts'
import { Action } from '../../parts/action.tsx'
import { useAttempt } from '../../parts/attempt.ts'
import { Cancel } from '../../parts/cancel.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { reasonAgainst, roleHere } from '../../person.ts'
import { me, sayDone } from '../../state.ts'
import { installationTexts } from '../../texts/installation.ts'
import { texts as general } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'
import type { TabProps } from './tab-props.ts'

const texts = installationTexts.versions
const address = '/v1/integrations/{integration}'

/** The kept versions. The owner of the integration goes back to an older one. */
export function Versions({
  read,
  title,
  onChanged,
}: Pick<TabProps, 'read' | 'title'> & { onChanged: () => void }) {
  const { integration } = read.account
  const [chosen, setChosen] = useState<number>()
  const { error, attempt } = useAttempt()
  const found = useLoad(`versions ${integration}`, async (signal) => {
    const params = { integration }
    const [{ items }, { organization }] = await Promise.all([
      api.call(`GET ${address}/versions`, { params, query: { limit: 20 }, signal }),
      api.call(`GET ${address}`, { params, signal }),
    ])
    return { items, owner: organization }
  })
  const changed = (said: string) => {
    sayDone(said)
    found.reload()
    onChanged()
  }
  const unpin = () =>
    attempt(async () => {
      changed(texts.unpinned((await api.call(`POST ${address}/unpin`, { params: { integration } })).number))
    })
  return (
    <section>
      <h2>{texts.title}</h2>
      <p class="muted">{texts.runs(read.form.version)}</p>
      <Loaded of={found}>
        {({ items, owner }) => {
          const reason = ownsIt(owner) ? reasonAgainst('rollBackIntegration') : texts.onlyOwner
          const deployed = items.find(({ state }) => state === 'deployed')
          return (
            <>
              {deployed?.pinned && (
                <div class="row">
                  <p>{texts.pinned}</p>
                  <Action act={unpin} reason={reason}>
                    {texts.unpin}
                  </Action>
                </div>
              )}
              <Table
                label={texts.title}
                rows={items}
                keyOf={({ number }) => String(number)}
                columns={[
                  { title: texts.columns.number, kind: 'nowrap', cell: ({ number }) => number },
                  { title: texts.columns.state, kind: 'nowrap', cell: ({ state }) => texts.states[state] },
                  {
                    title: texts.columns.loaded,
                    kind: 'nowrap',
                    cell: ({ createdAt }) => <Time at={createdAt} />,
                  },
                  ...(items.length < 2
                    ? []
                    : [
                        {
                          title: texts.columns.actions,
                          kind: 'nowrap' as const,
                          cell: ({ number }: Version) =>
                            deployed !== undefined &&
                            number < deployed.number && (
                              <Action kind="plain" act={() => setChosen(number)} reason={reason}>
                                {texts.rollBack}
                                <span class="visually-hidden">{texts.rollBackTo(number)}</span>
                              </Action>
                            ),
                        },
                      ]),
                ]}
              />
              {chosen !== undefined && deployed !== undefined && (
                <RollBack
                  {...{ integration, title, from: deployed.number, to: chosen }}
                  onEnd={(isDone) => {
                    setChosen(undefined)
                    if (isDone) changed(texts.rolledBack(chosen))
                  }}
                />
              )}
            </>
          )
        }}
      </Loaded>
      {error !== undefined && <ErrorNote error={error} />}
    </section>
  )
}

const ownsIt = (owner: string): boolean =>
  roleHere() === 'operator' ||
  me.value?.memberships?.some(({ organization: { id } }) => id === owner) === true

/** The host tries it first: what it would break is a list, and a rollback that breaks something is refused. */
function RollBack({
  integration,
  title,
  from,
  to,
  onEnd,
}: {
  integration: string
  title: string
  from: number
  to: number
  onEnd: (isDone: boolean) => void
}) {
  const { error, attempt } = useAttempt()
  const params = { integration }
  const tried = useLoad(`rollback ${integration} ${to}`, async (signal) => {
    const diff = await api.call(`GET ${address}/versions/{version}/diff`, {
      params: { integration, version: String(from) },
      query: { from: to },
      signal,
    })
    const broken = await api
      .call(`POST ${address}/rollback`, { params, body: { version: to, dryRun: true }, signal })
      .then(() => undefined)
      .catch((thrown) => {
        if (thrown instanceof ApiError) return thrown
        throw thrown
      })
    return { diff, broken }
  })
  const broken = tried.value?.broken
  const rollBack = () =>
    attempt(async () => {
      await api.call(`POST ${address}/rollback`, { params, body: { version: to } })
      onEnd(true)
    })
  return (
    <Dialog title={texts.rollBackTitle(title, to)} onClose={() => onEnd(false)}>
      <p>{texts.rollBackWhat}</p>
      <Loaded of={tried}>
        {({ diff }) =>
          broken === undefined ? <Difference of={diff} /> : <ErrorNote error={broken} what={texts.cannot} />
        }
      </Loaded>
      {error !== undefined && <ErrorNote error={error} />}
      <div class="row">
        <Action
          kind="bad"
          act={rollBack}
          reason={broken === undefined ? (tried.value ? undefined : general.loading) : texts.cannot}
        >
          {texts.rollBackTo(to)}
        </Action>
        <Cancel act={() => onEnd(false)} />
      </div>
    </Dialog>
  )
}

/** From the newer version back to the older one: what was added is lost. */
function Difference({ of: { added, removed, settings } }: { of: VersionDifference }) {
  const lines = [
    ...settings.added.map(texts.loses),
    ...settings.removed.map(texts.gains),
    ...removed.map(({ sentence }) => texts.asksAgain(sentence)),
    ...added.map(({ sentence }) => texts.asksNot(sentence)),
  ]
  if (lines.length === 0) return <p class="muted">{texts.same}</p>
  return (
    <>
      <p>{texts.would}</p>
      <ul class="bullets">
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </>
  )
}
