import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { isApiError } from '../../../../schemas/client.ts'
import type { PublishReceipt } from '../../../../schemas/generated/api/events.ts'
import type { Integration } from '../../../../schemas/generated/api/integrations.ts'
import type { Site } from '../../../../schemas/generated/api/sites.ts'
import { api } from '../api.ts'
import { reasonAgainst } from '../person.ts'
import { texts } from '../texts.ts'
import { useLoad } from '../use-load.ts'
import { Action } from './action.tsx'
import { Chip } from './chip.tsx'
import { ErrorNote } from './error-note.tsx'
import { Field } from './field.tsx'
import { Form } from './form.tsx'
import { Icon } from './icon.tsx'
import { SignatureNote } from './signature-note.tsx'
import { Loaded } from './state.tsx'
import { Timeline } from './timeline.tsx'

const name = 'webhook'
type Sample = { integration: Integration; site: Site; receiver: string; installed: boolean }
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

/** @returns undefined where an organization has no site, or this Annex has no webhook integration */
async function readSample(org: string): Promise<Sample | undefined> {
  const { items: sites } = await api.call('GET /v1/orgs/{org}/sites', {
    params: { org },
    query: { limit: 100 },
  })
  const site = sites.find(({ slug }) => slug === 'sample') ?? sites[0]
  if (site === undefined) return undefined
  try {
    const integration = await api.call('GET /v1/integrations/{integration}', {
      params: { integration: name },
    })
    const echo = await api
      .call('GET /v1/integrations/{integration}', { params: { integration: 'echo' } })
      .catch(() => undefined)
    const installation = await findInstallation(org)
    const installed = installation !== undefined && (await isInSite(installation, site))
    return { integration, site, receiver: echo?.urls.publicEndpoint ?? '', installed }
  } catch (error) {
    if (isApiError(error, 'not_found')) return undefined
    throw error
  }
}

async function findInstallation(org: string): Promise<string | undefined> {
  const query = { organization: org, integration: name, limit: 1 }
  return (await api.call('GET /v1/installations', { query })).items[0]?.id
}

async function isInSite(installation: string, site: Site): Promise<boolean> {
  const params = { integration: name, installation }
  const address = 'GET /v1/integrations/{integration}/installations/{installation}/sites'
  for await (const one of api.all(address, { params }))
    if (one.site === site.id) return one.status === 'active'
  return false
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

/** A step that failed half way is continued: what is installed already stays. @returns the signing secret of the site */
async function installIn(org: string, integration: Integration, site: Site, url: string): Promise<string> {
  const address = 'POST /v1/integrations/{integration}/installations'
  const { version, scopes } = integration
  const installation =
    (await findInstallation(org)) ??
    (
      await api.call(address, {
        params: { integration: name },
        body: { organization: org, scopes, ...(version && { version: version.number }) },
      })
    ).id
  const params = { integration: name, installation }
  const { signingSecret } = await api.call(`${address}/{installation}/sites`, {
    params,
    body: { site: site.id },
  })
  await api.call('PATCH /v1/integrations/{integration}/installations/{installation}', {
    params: { ...params, site: site.id },
    headers: { 'if-match': '*' },
    body: { configuration: { webhook_url: url, site_view: true, page_feedback: false } },
  })
  return signingSecret
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
  const [error, setError] = useState<unknown>()
  const publish = async () => {
    setError(undefined)
    try {
      onPublished(await api.call('POST /v1/events', { query: { organization: org }, body: sampleView(site) }))
    } catch (thrown) {
      setError(thrown)
    }
  }
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

const sampleView = ({ id, urls }: Site) => ({
  type: 'site_view' as const,
  siteId: id,
  visitor: { anonymousId: 'sample-visitor', userAgent: navigator.userAgent, ip: '203.0.113.7', cookies: {} },
  url: urls.published ?? 'https://docs.example.com/welcome',
})

function Arrival({
  org,
  receipt,
  secret,
  onArrived,
}: {
  org: string
  receipt: PublishReceipt
  secret: string | undefined
  onArrived: () => void
}) {
  const { eventId, installations, skipped = [] } = receipt
  const read = useLoad(
    `arrival ${eventId}`,
    async (signal) => {
      const { items } = await api.call('GET /v1/deliveries', { query: { event: eventId, limit: 1 }, signal })
      const [first] = items
      if (first === undefined) return null
      return api.call('GET /v1/deliveries/{delivery}', { params: { delivery: first.id }, signal })
    },
    500,
  )
  const isDelivered = read.value?.state === 'delivered'
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is told once
  useEffect(() => {
    if (isDelivered) onArrived()
  }, [isDelivered])
  if (installations === 0) {
    return (
      <div class="note warning">
        <Icon name="warning" />
        <div>
          {texts.firstSteps.skipped}
          {skipped.map(({ installation, message }) => (
            <span class="detail" key={installation}>
              {message}
            </span>
          ))}
        </div>
      </div>
    )
  }
  return (
    <Loaded of={read}>
      {(delivery) =>
        delivery === null ? (
          <p class="muted" role="status">
            {texts.firstSteps.waiting}
          </p>
        ) : (
          <>
            <div class="row" role="status">
              <Chip state={delivery.state} />
              <a href={`/orgs/${org}/deliveries/${delivery.id}`}>{texts.firstSteps.open}</a>
            </div>
            {secret !== undefined && <SignatureNote delivery={delivery} secret={secret} />}
            <div class="wide">
              <Timeline delivery={delivery} />
            </div>
          </>
        )
      }
    </Loaded>
  )
}
