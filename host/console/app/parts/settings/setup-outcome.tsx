import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { api } from '../../api.ts'
import type { ReadLevel } from '../../level.ts'
import { installationTexts as texts } from '../../texts/installation.ts'
import { useLoad } from '../../use-load.ts'
import { Id } from '../copy.tsx'
import { Icon } from '../icon.tsx'

const everyMs = 700
/** A run ends after 30 s, and its receipt is stored a second later. */
const patienceMs = 45_000

/** What the script did with the setup event of one edit, with the last line that it logged. */
export function SetupOutcome({ read, event }: { read: ReadLevel; event: string | undefined }) {
  const isHeld = read.account.status === 'paused' || read.account.status === 'suspended'
  const asks = event !== undefined && read.form.hasScript && !isHeld
  if (asks) return <Run org={read.name.org} event={event} />
  return (
    <Good>
      {event === undefined ? texts.saved.unchanged : isHeld ? texts.saved.held : texts.saved.noScript}
    </Good>
  )
}

function Run({ org, event }: { org: string; event: string }) {
  const [isDone, setIsDone] = useState(false)
  const [isLate, setIsLate] = useState(false)
  const { value } = useLoad(
    `run ${org} ${event}`,
    () => readRun(event),
    isDone || isLate ? undefined : everyMs,
  )
  const isThere = value !== undefined
  useEffect(() => {
    if (isThere) setIsDone(true)
  }, [isThere])
  useEffect(() => {
    const timer = setTimeout(() => setIsLate(true), patienceMs)
    return () => clearTimeout(timer)
  }, [])
  if (value === undefined) {
    return (
      <p class="saved">
        {!isLate && <span class="spinner" aria-hidden="true" />}
        {isLate ? texts.saved.late : texts.saved.running}
      </p>
    )
  }
  const { outcome, wallMs, request, line } = value
  if (outcome === 'no_handler') return <Good>{texts.saved.noHandler}</Good>
  const isOk = outcome === 'ok'
  // A line that an error made has the author's stack below it.
  const [first, ...rest] = line?.split('\n') ?? []
  const logged = (
    <pre class="line-of-script" dir="auto">
      {line}
    </pre>
  )
  if (isOk) {
    return (
      <>
        <Good>{texts.saved.answered(Math.round(wallMs))}</Good>
        {line !== undefined && (
          <details>
            <summary class="small">{texts.saved.line}</summary>
            {logged}
          </details>
        )}
      </>
    )
  }
  return (
    <div class="note bad">
      <Icon name="warning" />
      <div>
        <span>
          {texts.saved.failed} {line === undefined && texts.saved.failedSilently(outcome)}
        </span>
        {first !== undefined && (
          <code class="detail" dir="auto">
            {first}
          </code>
        )}
        {rest.length > 0 && (
          <details>
            <summary class="small">{texts.saved.where}</summary>
            {logged}
          </details>
        )}
        <span class="detail small">
          <Id value={request} />
        </span>
      </div>
    </div>
  )
}

const Good = ({ children }: { children: ComponentChildren }) => (
  <p class="saved good-text">
    <Icon name="check" />
    {children}
  </p>
)

type RunOfEvent = { outcome: string; wallMs: number; request: string; line: string | undefined }

/** A run that failed is tried again: the newest one counts. */
async function readRun(event: string): Promise<RunOfEvent | undefined> {
  const { items } = await api.call('GET /v1/receipts', { query: { event, limit: 1 } })
  const [receipt] = items
  if (receipt === undefined) return undefined
  const { outcome, wallMs, request } = receipt
  const { items: lines } = await api.call('GET /v1/logs', { query: { request, limit: 20 } })
  return { outcome, wallMs, request, line: lines.findLast(({ text }) => text.trim() !== '')?.text }
}
