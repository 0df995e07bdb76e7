import type { Connection } from '../../../../../schemas/generated/api/connections.ts'
import { pathOf } from '../../level-address.ts'
import { ConnectActions, ConnectionChip, ConnectionTarget } from '../../parts/settings/connection.tsx'
import { toSettings } from '../../parts/settings/settings.ts'
import { Time } from '../../parts/time.tsx'
import { installationTexts } from '../../texts/installation.ts'
import type { TabProps } from './tab-props.ts'

const texts = installationTexts.connection

/** Each connection of the level: as whom, since when, until when, and what went wrong. */
export function ConnectionTab({ read, onSaved }: TabProps) {
  const { connections = {} } = read.level
  const buttons = new Map(
    toSettings(read.form.schema).flatMap((one) => (one.kind === 'button' ? [[one.name, one] as const] : [])),
  )
  const names = Object.keys(connections)
  return (
    <div class="column narrow">
      <p class="muted">{texts.what}</p>
      {names.length === 0 && (
        <div class="empty">
          <p>{texts.none}</p>
          {read.name.place !== undefined && (
            <a href={pathOf({ ...read.name, place: undefined }, 'connection')}>{installationTexts.back}</a>
          )}
        </div>
      )}
      {names.map((name) => {
        const connection = connections[name] ?? { state: 'none' as const }
        const button = buttons.get(name)
        return (
          <section class="card" key={name} aria-label={button?.title ?? name}>
            <div class="row">
              <h2 dir="auto">{button?.title ?? name}</h2>
              <ConnectionChip state={connection.state} />
            </div>
            {button?.description && (
              <p class="muted" dir="auto">
                {button.description}
              </p>
            )}
            {connection.state !== 'none' && <Facts of={connection} />}
            {button !== undefined && <ConnectionTarget read={read} name={name} />}
            <ConnectActions
              {...{ read, name, connection, onSaved }}
              buttonText={button && (button.buttonText ?? texts.connect)}
            />
          </section>
        )
      })}
    </div>
  )
}

const Facts = ({ of: { account, since, expiresAt, lastError } }: { of: Connection }) => (
  <dl class="facts">
    <dt>{texts.as}</dt>
    <dd>{account === undefined ? <span class="muted">{texts.unnamed}</span> : <bdi>{account}</bdi>}</dd>
    {since !== undefined && (
      <>
        <dt>{texts.since}</dt>
        <dd>
          <Time at={since} />
        </dd>
      </>
    )}
    {expiresAt !== undefined && (
      <>
        <dt>{texts.expires}</dt>
        <dd>
          <Time at={expiresAt} />
        </dd>
      </>
    )}
    {lastError !== undefined && (
      <>
        <dt>{texts.error}</dt>
        <dd class="wrong" dir="auto">
          {lastError}
        </dd>
      </>
    )}
  </dl>
)
