import type { ReceiptWithRequests } from '../../../../../schemas/generated/api/receipts.ts'
import { Id } from '../../parts/copy.tsx'
import { InstallationLink } from '../../parts/installation-link.tsx'
import { Time } from '../../parts/time.tsx'
import { dispatchTexts } from '../../texts/dispatches.ts'

const texts = dispatchTexts.page

/** What set a dispatch off, and what it used. */
export function Facts({ org, receipt, runs }: { org: string; receipt: ReceiptWithRequests; runs: number }) {
  const { type, event, site, installation, integration, status, startedAt, wallMs, cpuMs, heapBytes } =
    receipt
  return (
    <dl class="facts">
      <dt>{texts.facts.cause}</dt>
      <dd class="row">
        <span>{texts.cause(type)}</span>
        {event !== undefined && <Id value={event} />}
        {event !== undefined && runs > 1 && (
          <a href={`/orgs/${org}/dispatches?event=${encodeURIComponent(event)}`}>{texts.runs(runs)}</a>
        )}
      </dd>
      {site !== undefined && (
        <>
          <dt>{texts.facts.site}</dt>
          <dd>
            <a href={`/orgs/${org}/sites/${site}/views`} title={site}>
              {texts.viewsOfSite}
            </a>
          </dd>
        </>
      )}
      <dt>{installation === undefined ? texts.facts.integration : texts.facts.installation}</dt>
      <dd>{installation === undefined ? integration : <InstallationLink org={org} id={installation} />}</dd>
      {status !== undefined && (
        <>
          <dt>{texts.facts.answer}</dt>
          <dd>{status}</dd>
        </>
      )}
      <dt>{texts.facts.started}</dt>
      <dd>
        <Time at={startedAt} />
      </dd>
      <dt>{texts.facts.duration}</dt>
      <dd>{texts.untilAnswer(wallMs)}</dd>
      <dt>{texts.facts.used}</dt>
      <dd>{texts.used(cpuMs, heapBytes)}</dd>
      <dt>{texts.facts.did}</dt>
      <dd>{texts.did(receipt.deliveries, receipt.tasks)}</dd>
      <dt>{texts.facts.request}</dt>
      <dd>
        <Id value={receipt.request} />
      </dd>
    </dl>
  )
}
