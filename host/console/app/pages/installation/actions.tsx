import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { api } from '../../api.ts'
import { paramsOf } from '../../level.ts'
import { pathOf } from '../../level-address.ts'
import { Action } from '../../parts/action.tsx'
import { Cancel } from '../../parts/cancel.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { More } from '../../parts/more.tsx'
import { Loaded } from '../../parts/state.tsx'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { installationTexts as texts } from '../../texts/installation.ts'
import { useLoad } from '../../use-load.ts'
import { readPlaces } from './places.tsx'
import type { TabProps } from './tab-props.ts'

const address = '/v1/integrations/{integration}/installations/{installation}'

/** Pause and resume concern the whole installation. An uninstall ends the level that is shown. */
export function LevelActions({ read, title, place, onSaved }: TabProps) {
  const [isEnding, setIsEnding] = useState(false)
  const [error, setError] = useState<unknown>()
  const { account } = read
  const { status } = account
  const isHeld = status === 'paused' || status === 'suspended'
  const turn = async (what: 'pause' | 'resume', said: string) => {
    setError(undefined)
    const params = { integration: account.integration, installation: account.id }
    try {
      await api.call(what === 'pause' ? `POST ${address}/pause` : `POST ${address}/resume`, { params })
      sayDone(said)
      onSaved()
    } catch (thrown) {
      setError(thrown)
    }
  }
  const level = place === undefined ? 'uninstallIntegration' : 'uninstallIntegrationFromSite'
  return (
    <>
      {isHeld ? (
        <Action
          kind="main"
          act={() => turn('resume', texts.pause.resumed)}
          reason={reasonAgainst('resumeInstallation')}
        >
          {texts.pause.resume}
        </Action>
      ) : (
        place === undefined && (
          <Action
            act={() => turn('pause', texts.pause.paused)}
            reason={
              reasonAgainst('pauseInstallation') ?? (status === 'active' ? undefined : texts.pause.notActive)
            }
          >
            {texts.pause.pause}
          </Action>
        )
      )}
      <More>
        <Action kind="bad" act={() => setIsEnding(true)} reason={reasonAgainst(level)}>
          {texts.uninstall.action}
        </Action>
      </More>
      {error !== undefined && (
        <Dialog title={texts.pause.pause} onClose={() => setError(undefined)}>
          <ErrorNote error={error} />
          <Cancel act={() => setError(undefined)} />
        </Dialog>
      )}
      {isEnding && <Uninstall {...{ read, title, place }} onClose={() => setIsEnding(false)} />}
    </>
  )
}

/** What goes with it is counted first, and its name is typed. */
function Uninstall({
  read,
  title,
  place,
  onClose,
}: Pick<TabProps, 'read' | 'title' | 'place'> & { onClose: () => void }) {
  const { route } = useLocation()
  const [typed, setTyped] = useState('')
  const { account, name } = read
  const what = place === undefined ? title : texts.inPlace(title, place)
  const word = account.integration
  const counted = useLoad(`goes with ${pathOf(name)}`, async (signal) => {
    const params = { integration: account.integration, installation: account.id }
    const [places, stores] = await Promise.all([
      name.place === undefined ? readPlaces(read, signal) : [],
      api.call(`GET ${address}/storage`, { params, signal }),
    ])
    const own = stores.items.filter(
      (one) => name.place === undefined || one[name.place.kind] === name.place.id,
    )
    return { places: places.length, keys: own.reduce((sum, { keys }) => sum + keys, 0) }
  })
  const uninstall = async () => {
    await api.call(`DELETE ${address}`, { params: paramsOf(read) })
    sayDone(texts.uninstall.done(what))
    route(
      name.place === undefined ? `/orgs/${name.org}/installations` : pathOf({ ...name, place: undefined }),
    )
  }
  return (
    <Dialog title={texts.uninstall.title(what)} onClose={onClose}>
      <Form
        submit={uninstall}
        label={texts.uninstall.action}
        reason={typed.trim() === word ? undefined : texts.uninstall.type(word)}
      >
        <p>{texts.uninstall.goes}</p>
        <Loaded of={counted}>
          {({ places, keys }) => (
            <ul class="bullets">
              {places > 0 && <li>{texts.uninstall.places(places)}</li>}
              <li>{texts.uninstall.settings}</li>
              {keys > 0 && <li>{texts.uninstall.storage(keys)}</li>}
              <li>{texts.uninstall.deliveries}</li>
            </ul>
          )}
        </Loaded>
        <p class="muted">{texts.uninstall.stays}</p>
        <Field label={texts.uninstall.type(word)} autocomplete="off" value={typed} onValue={setTyped} />
      </Form>
      <div>
        <Cancel act={onClose} />
      </div>
    </Dialog>
  )
}
