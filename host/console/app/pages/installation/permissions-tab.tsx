import type { Permission } from '../../../../../schemas/generated/api/versions.ts'
import { api } from '../../api.ts'
import { pathOf } from '../../level-address.ts'
import { Action } from '../../parts/action.tsx'
import { useAttempt } from '../../parts/attempt.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { installationTexts } from '../../texts/installation.ts'
import { useLoad } from '../../use-load.ts'
import { Agreed } from './agreed.tsx'
import type { TabProps } from './tab-props.ts'
import { Versions } from './versions.tsx'

const texts = installationTexts.permissions
const everyMs = 5_000
const address = '/v1/integrations/{integration}/installations/{installation}/agreement'

/** What the organization has agreed to, and the version that waits for it. */
export function PermissionsTab({ read, title, onSaved }: TabProps) {
  const { account, name } = read
  const { integration, id: installation } = account
  const agreement = useLoad(
    `agreement ${installation}`,
    (signal) => api.call(`GET ${address}`, { params: { integration, installation }, signal }),
    everyMs,
  )
  const reload = () => {
    agreement.reload()
    onSaved()
  }
  if (name.place !== undefined) {
    return (
      <div class="empty">
        <p>{texts.ofInstallation}</p>
        <a href={pathOf({ ...name, place: undefined }, 'permissions')}>{installationTexts.back}</a>
      </div>
    )
  }
  return (
    <div class="column narrow">
      <Loaded of={agreement}>
        {({ version, agreed, waiting, countedSince }) => (
          <>
            {waiting === null ? (
              <p class="saved good-text">
                <Icon name="check" />
                {texts.upToDate}
              </p>
            ) : (
              <Waiting
                {...{ read, from: version, to: waiting.version, asks: waiting.permissions }}
                onAgreed={reload}
              />
            )}
            <section class="card">
              <h2>{texts.agreed}</h2>
              {agreed === null ? (
                <p class="muted">{texts.notRecorded}</p>
              ) : (
                <>
                  <p class="muted">
                    {texts.agreedWhat(agreed.version)} <Time at={agreed.at} />
                  </p>
                  {agreed.permissions.length === 0 ? (
                    <p class="muted">{texts.nothing}</p>
                  ) : (
                    <Agreed of={agreed.permissions} countedSince={countedSince} />
                  )}
                </>
              )}
            </section>
          </>
        )}
      </Loaded>
      <Versions {...{ read, title }} onChanged={reload} />
    </div>
  )
}

export const Sentences = ({ of }: { of: readonly Permission[] }) =>
  of.length === 0 ? (
    <p class="muted">{texts.nothing}</p>
  ) : (
    <ul class="bullets">
      {of.map(({ kind, name, sentence }) => (
        <li key={kind + name}>{sentence}</li>
      ))}
    </ul>
  )

/** The difference, and the agreement to it. */
function Waiting({
  read,
  from,
  to,
  asks,
  onAgreed,
}: Pick<TabProps, 'read'> & { from: number; to: number; asks: readonly Permission[]; onAgreed: () => void }) {
  const { error, attempt } = useAttempt()
  const { integration, id: installation } = read.account
  const difference = useLoad(`difference ${integration} ${from} ${to}`, (signal) =>
    api.call('GET /v1/integrations/{integration}/versions/{version}/diff', {
      params: { integration, version: String(to) },
      query: { from },
      signal,
    }),
  )
  const agree = async () => {
    await attempt(async () => {
      // The waiting version is the deployed one. Where it has been replaced meanwhile, the agreement names the one that was read.
      const { scopes } = await api.call('GET /v1/integrations/{integration}', { params: { integration } })
      await api.call(`POST ${address}`, {
        params: { integration, installation },
        body: { version: to, scopes },
      })
      sayDone(texts.agreedNow(to))
    })
    onAgreed()
  }
  return (
    <section class="card attention">
      <h2>{texts.waiting(to)}</h2>
      <p>{texts.waitingWhat(from, to)}</p>
      <h3>{texts.asksFor}</h3>
      <Sentences of={asks} />
      <Loaded of={difference}>
        {({ removed, settings }) => (
          <>
            {removed.length > 0 && (
              <>
                <h3>{texts.goneAsks}</h3>
                <Sentences of={removed} />
              </>
            )}
            <Names title={texts.newSettings} names={settings.added} />
            <Names title={texts.goneSettings} names={settings.removed} />
          </>
        )}
      </Loaded>
      {error !== undefined && <ErrorNote error={error} />}
      <div>
        <Action kind="main" act={agree} reason={reasonAgainst('agreeToVersion')}>
          {texts.agree(to)}
        </Action>
      </div>
    </section>
  )
}

const Names = ({ title, names }: { title: string; names: readonly string[] }) =>
  names.length === 0 ? null : (
    <>
      <h3>{title}</h3>
      <ul class="bullets">
        {names.map((name) => (
          <li key={name}>
            <code>{name}</code>
          </li>
        ))}
      </ul>
    </>
  )
