import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { PublishReceipt } from '../../../../../schemas/generated/api/events.ts'
import type { Site } from '../../../../../schemas/generated/api/sites.ts'
import { api } from '../../api.ts'
import { Action } from '../../parts/action.tsx'
import { useAttempt } from '../../parts/attempt.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { reasonAgainst } from '../../person.ts'
import { texts } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'
import { Arrival } from './arrival.tsx'
import { installIn, readSample, type Sample, sampleView } from './sample.ts'

/** Kept in this page alone: a signing secret is shown once. */
type Made = { secret: string }

/**
 * From an event to a signed webhook on the screen, with what a new Annex has: the integration `webhook`, the sample site, and
 * `echo` as the receiver. It is there while the organization has no delivery, and then until the page is left.
 */
export function FirstSteps({
  org,
  isNew,
  onChange,
}: {
  org: string
  isNew: boolean
  /** The lists of the page have something new. */
  onChange: () => void
}) {
  const [isBegun, setIsBegun] = useState(false)
  const [made, setMade] = useState<Made>()
  const [receipt, setReceipt] = useState<PublishReceipt>()
  const [isArrived, setIsArrived] = useState(false)
  const isShown = isNew || isBegun
  const sample = useLoad(`sample ${org} ${isShown}`, () =>
    isShown ? readSample(org) : Promise.resolve(undefined),
  )
  if (!isShown || sample.value === undefined) return null
  const { integration, site, receiver } = sample.value
  const isInstalled = sample.value.installed || made !== undefined
  return (
    <section>
      <h2>{texts.firstSteps.title}</h2>
      <p class="muted">{texts.firstSteps.what}</p>
      <ol class="steps">
        <Step
          number={1}
          state={isInstalled ? 'done' : 'now'}
          title={texts.firstSteps.install(integration.title, site.title)}
        >
          {isInstalled ? (
            <p class="muted">{texts.firstSteps.installed(integration.title, site.title)}</p>
          ) : (
            <Install
              org={org}
              sample={sample.value}
              receiver={receiver}
              onInstalled={(secret) => {
                setIsBegun(true)
                setMade({ secret })
                onChange()
              }}
            />
          )}
        </Step>
        <Step
          number={2}
          state={receipt !== undefined ? 'done' : isInstalled ? 'now' : 'later'}
          title={texts.firstSteps.publish}
        >
          <p class="muted">{texts.firstSteps.publishWhat}</p>
          <Publish
            org={org}
            site={site}
            isAgain={receipt !== undefined}
            isPossible={isInstalled}
            onPublished={(published) => {
              setIsBegun(true)
              setReceipt(published)
              setIsArrived(false)
            }}
          />
        </Step>
        <Step
          number={3}
          state={isArrived ? 'done' : receipt === undefined ? 'later' : 'now'}
          title={texts.firstSteps.delivered}
        >
          {receipt === undefined ? (
            <p class="muted">{texts.firstSteps.deliveredWhat}</p>
          ) : (
            <Arrival
              key={receipt.eventId}
              org={org}
              receipt={receipt}
              secret={made?.secret}
              onArrived={() => {
                setIsArrived(true)
                onChange()
              }}
            />
          )}
        </Step>
      </ol>
    </section>
  )
}

function Step({
  number,
  state,
  title,
  children,
}: {
  number: number
  state: 'done' | 'now' | 'later'
  title: string
  children: ComponentChildren
}) {
  return (
    <li class={state}>
      <span class="number" aria-hidden="true">
        {state === 'done' ? <Icon name="check" /> : number}
      </span>
      <div class="body">
        <h3>{title}</h3>
        {children}
      </div>
    </li>
  )
}

function Install({
  org,
  sample: { integration, site },
  receiver,
  onInstalled,
}: {
  org: string
  sample: Sample
  receiver: string
  onInstalled: (secret: string) => void
}) {
  const [url, setUrl] = useState(receiver)
  const permissions = integration.page?.permissions ?? []
  const install = async () => onInstalled(await installIn(org, integration, site, url))
  return (
    <>
      {permissions.length > 0 && (
        <div>
          <p>{texts.firstSteps.asks}</p>
          <ul class="bullets">
            {permissions.map(({ sentence }) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </div>
      )}
      <Form
        submit={install}
        label={texts.firstSteps.install(integration.title, site.title)}
        reason={reasonAgainst('installIntegration')}
      >
        <Field
          label={texts.firstSteps.receiver}
          hint={texts.firstSteps.receiverHint}
          type="url"
          required
          value={url}
          onValue={setUrl}
        />
      </Form>
    </>
  )
}

function Publish({
  org,
  site,
  isAgain,
  isPossible,
  onPublished,
}: {
  org: string
  site: Site
  isAgain: boolean
  isPossible: boolean
  onPublished: (receipt: PublishReceipt) => void
}) {
  const { error, attempt } = useAttempt()
  const publish = () =>
    attempt(async () => {
      onPublished(await api.call('POST /v1/events', { query: { organization: org }, body: sampleView(site) }))
    })
  return (
    <>
      {error !== undefined && <ErrorNote error={error} />}
      <Action
        act={publish}
        kind={isPossible && !isAgain ? 'main' : ''}
        reason={isPossible ? reasonAgainst('publishEvent') : texts.firstSteps.installFirst}
      >
        {isAgain ? texts.firstSteps.again : texts.firstSteps.publish}
      </Action>
    </>
  )
}
