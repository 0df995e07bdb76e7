import { useEffect, useState } from 'preact/hooks'
import type { Connection } from '../../../../../schemas/generated/api/connections.ts'
import { api } from '../../api.ts'
import { type EditedLevel, paramsOf, type ReadLevel } from '../../level.ts'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { installationTexts } from '../../texts/installation.ts'
import { texts as general } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'
import { Action } from '../action.tsx'
import { Cancel } from '../cancel.tsx'
import { CopyButton } from '../copy.tsx'
import { Dialog } from '../dialog.tsx'
import { ErrorNote } from '../error-note.tsx'
import { Icon } from '../icon.tsx'
import { baseOf, saveSetting } from './save-setting.ts'

const texts = installationTexts.connection
const address = '/v1/integrations/{integration}/installations/{installation}/configuration/{property}/connect'

export type ConnectionProps = {
  read: ReadLevel
  name: string
  connection: Connection
  /** Undefined: a connection that no button of this version begins. */
  buttonText: string | undefined
  onSaved: (edited?: EditedLevel) => void
}

const everyMs = 1_000

/**
 * Makes a connection, makes it again, and ends it. A pop-up window leads to the provider. The console's policy cuts every tie to
 * that window, so this page reads from the API when the connection is there.
 */
export function ConnectActions({ read, name, connection, buttonText, onSaved }: ConnectionProps) {
  const [asked, setAsked] = useState<'again' | 'disconnect'>()
  const [error, setError] = useState<unknown>()
  /** The connection before the pop-up window was opened. */
  const [before, setBefore] = useState<Connection & { url: string }>()
  const reason = reasonAgainst('connectInstallationSetting')
  const isThere = connection.state !== 'none'
  const isMade = before !== undefined && isThere && connection.since !== before.since
  useEffect(() => {
    if (before === undefined || isMade) return
    const timer = setInterval(onSaved, everyMs)
    return () => clearInterval(timer)
  }, [before, isMade, onSaved])
  const isOther = isMade && before.account !== undefined && connection.account !== before.account
  useEffect(() => {
    if (!isMade || isOther) return
    setBefore(undefined)
    sayDone(connection.account === undefined ? texts.madeUnnamed : texts.made(connection.account))
  }, [isMade, isOther, connection.account])

  const connect = async () => {
    setAsked(undefined)
    setError(undefined)
    // Opened within the press of the button: a browser blocks a window that is opened later.
    const popup = window.open('', '_blank', 'popup,width=720,height=800')
    try {
      const params = { ...paramsOf(read), property: name }
      const { url } = await api.call(`POST ${address}`, { params })
      if (popup === null) location.assign(url)
      else popup.location.replace(url)
      setBefore({ ...connection, url })
    } catch (thrown) {
      popup?.close()
      setError(thrown)
    }
  }
  const disconnect = async () => {
    setError(undefined)
    const edit = { name, isSecret: false, base: baseOf(read, name), edit: { value: undefined } }
    try {
      const saved = await saveSetting(read, edit)
      sayDone(texts.disconnected)
      onSaved(saved.kind === 'saved' ? saved.edited : undefined)
    } catch (thrown) {
      setError(thrown)
    }
    setAsked(undefined)
  }
  return (
    <>
      <div class="row">
        {buttonText !== undefined && (
          <Action
            kind={isThere && connection.state !== 'broken' ? '' : 'main'}
            act={() => (connection.account === undefined ? connect() : setAsked('again'))}
            reason={reason}
          >
            {isThere ? texts.again : buttonText}
          </Action>
        )}
        {isThere && (
          <Action
            kind="plain"
            act={() => setAsked('disconnect')}
            reason={reasonAgainst('deleteInstallationSetting')}
          >
            {texts.disconnect}
          </Action>
        )}
      </div>
      {before !== undefined && !isMade && (
        <div class="note" role="status">
          <span class="spinner" aria-hidden="true" />
          <div>
            <span class="detail">{texts.waiting}</span>
            <div class="row">
              <a href={before.url}>{texts.openHere}</a>
              <Action kind="plain" act={() => setBefore(undefined)}>
                {texts.stop}
              </Action>
            </div>
          </div>
        </div>
      )}
      {isOther && (
        <div class="note warning" role="alert">
          <Icon name="warning" />
          <div>
            <span class="detail">{texts.differs(connection.account ?? '?', before?.account ?? '?')}</span>
            <div class="row">
              <Action act={() => setBefore(undefined)}>{texts.keepOther(connection.account ?? '?')}</Action>
              <Action act={disconnect}>{texts.disconnect}</Action>
            </div>
          </div>
        </div>
      )}
      {error !== undefined && <ErrorNote error={error} />}
      {asked === 'again' && (
        <ConnectAgain
          account={connection.account ?? ''}
          connect={connect}
          onClose={() => setAsked(undefined)}
        />
      )}
      {asked === 'disconnect' && (
        <Dialog title={texts.disconnectOf(connection.account ?? name)} onClose={() => setAsked(undefined)}>
          <p>{texts.disconnectWhat}</p>
          <div class="row">
            <Action kind="bad" act={disconnect}>
              {texts.disconnect}
            </Action>
            <Cancel act={() => setAsked(undefined)} />
          </div>
        </Dialog>
      )}
    </>
  )
}

/** Another account needs a yes: it takes the place of the one that is there. */
function ConnectAgain({
  account,
  connect,
  onClose,
}: {
  account: string
  connect: () => Promise<void>
  onClose: () => void
}) {
  const [isOther, setIsOther] = useState(false)
  return (
    <Dialog title={texts.askTitle} onClose={onClose}>
      <p>{texts.askWhat(account)}</p>
      <label class="row">
        <input type="checkbox" checked={isOther} onChange={() => setIsOther(!isOther)} />
        {texts.yesOther}
      </label>
      {isOther && <p class="muted">{texts.askOther}</p>}
      <div class="row">
        <Action kind="main" act={connect}>
          {isOther ? texts.other : texts.same(account)}
        </Action>
        <Cancel act={onClose} />
      </div>
    </Dialog>
  )
}

export function ConnectionChip({ state }: { state: Connection['state'] }) {
  const tones = { none: '', connected: 'good', expiring: 'warning', broken: 'bad' } as const
  const icons = { none: 'note', connected: 'check', expiring: 'clock', broken: 'warning' } as const
  return (
    <span class={`chip ${tones[state]}`}>
      <Icon name={icons[state]} />
      {texts.states[state]}
    </span>
  )
}

/** Where a button leads: the provider, and the callback address to register there before the first connect. */
export function ConnectionTarget({ read, name }: { read: ReadLevel; name: string }) {
  const reason = reasonAgainst('readInstallationConnectionTarget')
  const { value } = useLoad(`target ${read.account.id} ${name} ${reason}`, async (signal) =>
    reason === undefined
      ? api.call(`GET ${address}`, { params: { ...paramsOf(read), property: name }, signal })
      : undefined,
  )
  if (value === undefined) return null
  const { callback, provider, problem } = value
  const { host, hostname } = new URL(callback)
  return (
    <dl class="facts">
      {provider !== undefined && (
        <>
          <dt>{texts.provider}</dt>
          <dd>
            <code>{new URL(provider).host}</code>
          </dd>
        </>
      )}
      <dt>{texts.callback}</dt>
      <dd>
        <code>{callback}</code> <CopyButton text={callback} label={general.copy(callback)} />
        <p class="muted small">{texts.callbackWhat}</p>
        {isLoopback(hostname) && <p class="muted small">{texts.loopback}</p>}
        {host !== location.host && (
          <p class="waiting-for">
            <Icon name="warning" />
            {texts.otherHost(location.host)}
          </p>
        )}
        {problem !== undefined && (
          <p class="wrong">
            <Icon name="warning" />
            <span>
              {texts.problem} {problem}
            </span>
          </p>
        )}
      </dd>
    </dl>
  )
}

const isLoopback = (name: string): boolean =>
  /^(?:localhost|127(?:\.\d+){3}|\[::1\])$|\.localhost$/.test(name)
