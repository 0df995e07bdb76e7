import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { Account, Passkey } from '../../../../schemas/generated/api/accounts.ts'
import type { Session } from '../../../../schemas/generated/api/sessions.ts'
import { api } from '../api.ts'
import { Action } from '../parts/action.tsx'
import { useAttempt } from '../parts/attempt.ts'
import { Boundary } from '../parts/boundary.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Choice, Field, NewPassword } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Head } from '../parts/head.tsx'
import { OpenidLink } from '../parts/openid-link.tsx'
import { Loaded } from '../parts/state.tsx'
import { Table } from '../parts/table.tsx'
import { chooseTimeZone, Time, timeZone } from '../parts/time.tsx'
import { createPasskey, reasonAgainstPasskeys } from '../passkeys.ts'
import { loadPerson } from '../person.ts'
import { me, sayDone } from '../state.ts'
import { texts } from '../texts.ts'
import { useLoad } from '../use-load.ts'

export default function AccountPage() {
  const { route } = useLocation()
  const account = useLoad('account', (signal) => api.call('GET /v1/account', { signal }))
  const signOut = async () => {
    await api.call('DELETE /v1/sessions/{session}', { params: { session: 'current' } })
    me.value = null
    route('/sign-in', true)
  }
  return (
    <>
      <Head title={texts.account.title} actions={<Action act={signOut}>{texts.account.signOut}</Action>}>
        {account.value?.operator ? texts.account.operator : texts.account.person}
      </Head>
      <Loaded of={account}>
        {(value) => (
          <>
            <Profile account={value} />
            <Boundary>
              <WaysIn account={value} reload={account.reload} />
            </Boundary>
          </>
        )}
      </Loaded>
      <Boundary>
        <Sessions />
      </Boundary>
      <Display />
    </>
  )
}

function Profile({ account }: { account: Account }) {
  const [name, setName] = useState(account.name)
  const [email, setEmail] = useState(account.email)
  const save = async () => {
    // The email is a way to sign in: a change asks for a confirmation, and a name does not.
    const body = { name, ...(email !== account.email && { email }) }
    await api.call('PATCH /v1/account', { body })
    await loadPerson()
    sayDone(texts.account.saved)
  }
  return (
    <section class="card">
      <h2>{texts.account.profile}</h2>
      <Form submit={save} label={texts.account.save}>
        <Field label={texts.name} autocomplete="name" value={name} onValue={setName} />
        <Field
          label={texts.email}
          type="email"
          autocomplete="email"
          required
          value={email}
          onValue={setEmail}
        />
      </Form>
    </section>
  )
}

function WaysIn({ account, reload }: { account: Account; reload: () => void }) {
  const { error, attempt } = useAttempt()
  const needs = useLoad('sign-in', () => api.call('GET /v1/sign-in'))
  const { passkeys, password, email, name } = account
  const change = (act: () => Promise<unknown>, done: string) => () =>
    attempt(async () => {
      await act()
      sayDone(done)
      reload()
    })
  const add = change(async () => {
    const response = await createPasskey({ email, name })
    await api.call('POST /v1/account/passkeys', { body: { response } })
  }, texts.account.passkeyAdded)
  const remove = ({ id }: Passkey) =>
    change(
      () => api.call('DELETE /v1/account/passkeys/{passkey}', { params: { passkey: id } }),
      texts.account.passkeyRemoved,
    )
  const onlyWay = passkeys.length === 1 && !password ? texts.account.lastWay : undefined
  const reason = needs.value && reasonAgainstPasskeys(needs.value)
  const provider = <OpenidLink of={account.openid} name={needs.value?.openid?.name} reload={reload} />
  if (account.openid?.setsRoles) {
    return (
      <section class="card">
        <h2>{texts.account.ways}</h2>
        {provider}
      </section>
    )
  }
  return (
    <section class="card">
      <h2>{texts.account.ways}</h2>
      {passkeys.length === 0 ? (
        <p class="muted">{texts.account.noPasskeys}</p>
      ) : (
        <Table
          label={texts.account.passkeys}
          rows={passkeys}
          keyOf={({ id }) => id}
          columns={[
            { title: texts.account.columns.label, kind: 'wide-cell', cell: ({ label }) => label },
            {
              title: texts.account.columns.host,
              kind: 'nowrap',
              cell: ({ host }) =>
                host === location.hostname ? (
                  <code>{host}</code>
                ) : (
                  <span class="muted">{texts.account.otherHost(host)}</span>
                ),
            },
            {
              title: texts.account.columns.used,
              kind: 'nowrap',
              cell: ({ lastUsedAt }) => (lastUsedAt === null ? texts.never : <Time at={lastUsedAt} />),
            },
            {
              title: texts.account.remove,
              kind: 'nowrap',
              cell: (passkey) => (
                <Action kind="plain" act={remove(passkey)} reason={onlyWay}>
                  {texts.account.remove}
                  <span class="visually-hidden">{passkey.label}</span>
                </Action>
              ),
            },
          ]}
        />
      )}
      {error !== undefined && <ErrorNote error={error} />}
      <div>
        <Action act={add} reason={reason}>
          {texts.account.addPasskey}
        </Action>
      </div>
      {reason !== undefined && <p class="muted small">{reason}</p>}
      <Password has={password} email={email} reload={reload} />
      {provider}
    </section>
  )
}

function Password({ has, email, reload }: { has: boolean; email: string; reload: () => void }) {
  const [password, setPassword] = useState('')
  const save = async () => {
    await api.call('PATCH /v1/account', { body: { password } })
    setPassword('')
    sayDone(texts.account.passwordSaved)
    reload()
  }
  const label = has ? texts.account.changePassword : texts.account.setPassword
  return (
    <details>
      <summary>{label}</summary>
      <Form submit={save} label={label}>
        <NewPassword email={email} value={password} onValue={setPassword} />
      </Form>
    </details>
  )
}

function Sessions() {
  const { error, attempt } = useAttempt()
  const sessions = useLoad('sessions', (signal) =>
    api.call('GET /v1/sessions', { query: { limit: 100 }, signal }),
  )
  const end = (session: Session) => () =>
    attempt(async () => {
      await api.call('DELETE /v1/sessions/{session}', { params: { session: session.id } })
      sayDone(texts.account.ended)
      sessions.reload()
    })
  const { columns, methods } = texts.account
  return (
    <section class="card">
      <h2>{texts.account.sessions}</h2>
      {error !== undefined && <ErrorNote error={error} />}
      <Loaded of={sessions}>
        {({ items }) => (
          <Table
            label={texts.account.sessions}
            rows={items}
            keyOf={({ id }) => id}
            columns={[
              {
                title: columns.browser,
                kind: 'wide-cell',
                cell: ({ current, userAgent }) => (
                  <span title={userAgent}>
                    {toBrowser(userAgent)}
                    {current && <span class="chip"> {texts.account.here}</span>}
                  </span>
                ),
              },
              { title: texts.account.by, kind: 'nowrap', cell: ({ method }) => methods[method] },
              { title: columns.address, kind: 'nowrap', cell: ({ address }) => <code>{address}</code> },
              { title: columns.since, kind: 'nowrap', cell: ({ createdAt }) => <Time at={createdAt} /> },
              { title: columns.used, kind: 'nowrap', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
              {
                title: texts.account.end,
                kind: 'nowrap',
                cell: (session) =>
                  !session.current && (
                    <Action kind="plain" act={end(session)}>
                      {texts.account.end}
                      <span class="visually-hidden">{toBrowser(session.userAgent)}</span>
                    </Action>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </section>
  )
}

/** `Chrome on Linux`: the whole text is in the title. */
function toBrowser(userAgent: string): string {
  const browser = /\b(Firefox|Edg|OPR|Chrome|Safari)\//.exec(userAgent.replace(/Headless/, ''))?.[1]
  const system = /\b(Windows|Android|iPhone|iPad|Mac OS|CrOS|Linux)\b/.exec(userAgent)?.[1]
  const names: Record<string, string> = { Edg: 'Edge', OPR: 'Opera' }
  return browser && system ? `${names[browser] ?? browser} on ${system}` : userAgent.slice(0, 40)
}

function Display() {
  const own = new Intl.DateTimeFormat().resolvedOptions().timeZone
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]
  return (
    <section class="card">
      <h2>{texts.account.display}</h2>
      <Choice
        label={texts.account.zone}
        hint={texts.account.zoneHint}
        value={timeZone.value}
        options={[
          { value: '', label: texts.account.ofBrowser(own) },
          ...zones.map((zone) => ({ value: zone, label: zone })),
        ]}
        onValue={chooseTimeZone}
      />
    </section>
  )
}
