import { useEffect, useState } from 'preact/hooks'
import type { Connection } from '../../../../../schemas/generated/api/connections.ts'
import { api } from '../../api.ts'
import { type EditedLevel, paramsOf, type ReadLevel, toEdited } from '../../level.ts'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { installationTexts } from '../../texts/installation.ts'
import { texts as general } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'
import { Action } from '../action.tsx'
import { useAttempt } from '../attempt.ts'
import { Cancel } from '../cancel.tsx'
import { CopyButton } from '../copy.tsx'
import { Dialog } from '../dialog.tsx'
import { ErrorNote } from '../error-note.tsx'
import { Icon } from '../icon.tsx'
import { Time } from '../time.tsx'
import { baseOf, saveSetting } from './save-setting.ts'

const texts = installationTexts.connection
const address = '/v1/integrations/{integration}/installations/{installation}/configuration/{property}/connect'
const heldAddress =
  '/v1/integrations/{integration}/installations/{installation}/configuration/{property}/connection'

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
  const [isEnding, setIsEnding] = useState(false)
  const [error, setError] = useState<unknown>()
  /** The connection before the pop-up window was opened. */
  const [before, setBefore] = useState<Connection & { url: string }>()
  const reason = reasonAgainst('connectInstallationSetting')
  const isThere = connection.state !== 'none'
  const isMade =
    before !== undefined &&
    ((isThere && connection.since !== before.since) || connection.held?.at !== before.held?.at)
  useEffect(() => {
    if (before === undefined || isMade) return
    const timer = setInterval(onSaved, everyMs)
    return () => clearInterval(timer)
  }, [before, isMade, onSaved])
  useEffect(() => {
    if (!isMade) return
    setBefore(undefined)
    if (connection.held !== undefined) return
    sayDone(connection.account === undefined ? texts.madeUnnamed : texts.made(connection.account))
  }, [isMade, connection.account, connection.held])

  const connect = async () => {
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
    setIsEnding(false)
  }
  return (
    <>
      <div class="row">
        {buttonText !== undefined && (
          <Action kind={isThere && connection.state !== 'broken' ? '' : 'main'} act={connect} reason={reason}>
            {isThere ? texts.again : buttonText}
          </Action>
        )}
        {isThere && (
          <Action
            kind="plain"
            act={() => setIsEnding(true)}
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
      <Held {...{ read, name, connection, onSaved }} />
      {error !== undefined && <ErrorNote error={error} />}
      {isEnding && (
        <Dialog title={texts.disconnectOf(connection.account ?? name)} onClose={() => setIsEnding(false)}>
          <p>{texts.disconnectWhat}</p>
          <div class="row">
            <Action kind="bad" act={disconnect}>
              {texts.disconnect}
            </Action>
            <Cancel act={() => setIsEnding(false)} />
          </div>
        </Dialog>
      )}
    </>
  )
}

const longestShown = 40

/** The sentence above the buttons has the whole name. */
function shorten(account: string): string {
  const characters = [...account]
  return characters.length <= longestShown ? account : `${characters.slice(0, longestShown - 1).join('')}…`
}

/** Another account needs a yes: it takes the place of the one that is there. */
function Held({ read, name, connection, onSaved }: Omit<ConnectionProps, 'buttonText'>) {
  const { error, attempt } = useAttempt()
  const { held } = connection
  if (held === undefined) return null
  const { replaces } = held
  const params = { ...paramsOf(read), property: name }
  const accept = () =>
    attempt(async () => {
      const body = { account: held.account }
      onSaved(toEdited(await api.read(`POST ${heldAddress}`, { params, body })))
      sayDone(texts.made(held.account))
    })
  const refuse = () =>
    attempt(async () => {
      onSaved(toEdited(await api.read(`DELETE ${heldAddress}`, { params })))
      sayDone(texts.refused(replaces))
    })
  return (
    <div class="note warning" role="alert">
      <Icon name="warning" />
      <div>
        <span class="detail">
          {texts.heldNow} <bdi>{held.account}</bdi>. {texts.heldBefore} <bdi>{replaces}</bdi>{' '}
          {texts.heldUntil} {texts.heldEnds} <Time at={held.until} />.
        </span>
        {error !== undefined && <ErrorNote error={error} />}
        <div class="row">
          <Action act={accept} reason={reasonAgainst('acceptInstallationConnection')}>
            {texts.accept} <bdi>{shorten(held.account)}</bdi>
          </Action>
          <Action act={refuse} reason={reasonAgainst('refuseInstallationConnection')}>
            {texts.refuse} <bdi>{shorten(replaces)}</bdi>
          </Action>
        </div>
      </div>
    </div>
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
