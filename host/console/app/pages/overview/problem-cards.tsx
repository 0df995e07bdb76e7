import { useState } from 'preact/hooks'
import type { Address, Request } from '../../../../../schemas/client.ts'
import type { Problem, ProblemOperation } from '../../../../../schemas/generated/api/problems.ts'
import { api } from '../../api.ts'
import { Action } from '../../parts/action.tsx'
import { useAttempt } from '../../parts/attempt.ts'
import { CopyButton } from '../../parts/copy.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Time } from '../../parts/time.tsx'
import { reasonAgainst } from '../../person.ts'
import { idsOfFixes, type Problems } from '../../sort-problems.ts'
import { sayDone } from '../../state.ts'
import { texts } from '../../texts.ts'

/** One cause may make a hundred problems, as a provider that is down: the rest of the page stays near. */
const mostShown = 8

/** What needs a person: each with its cause, since when, whom it concerns, and what mends it. */
export const ProblemCards = ({ problems, onMended }: { problems: Problems; onMended: () => void }) => {
  const { org, here, elsewhere } = problems
  const [isWhole, setIsWhole] = useState(false)
  const shown = isWhole ? here : here.slice(0, mostShown)
  return (
    <>
      {here.length > 0 && (
        <section aria-label={texts.overview.problems}>
          {shown.map((problem) => (
            <ProblemCard
              key={`${problem.kind} ${problem.subject.id} ${problem.sentence}`}
              {...{ org, problem, onMended }}
            />
          ))}
          {shown.length < here.length && (
            <div>
              <button type="button" onClick={() => setIsWhole(true)}>
                {texts.overview.more(here.length - shown.length)}
              </button>
            </div>
          )}
        </section>
      )}
      {elsewhere.size > 0 && (
        <p class="muted small">
          {texts.overview.elsewhere}{' '}
          {[...elsewhere].map(([name, count]) => (
            <a key={name} class="in-line" href={`/orgs/${name}`}>
              {texts.overview.ofOther(name, count)}
            </a>
          ))}
        </p>
      )}
    </>
  )
}

function ProblemCard({ org, problem, onMended }: { org: string; problem: Problem; onMended: () => void }) {
  const { sentence, since, fix, organization } = problem
  const { error, attempt } = useAttempt()
  const { operation } = fix
  const page = pageOf(org, problem)
  const mend = (chosen: ProblemOperation) =>
    attempt(async () => {
      await run(chosen)
      onMended()
    })
  return (
    <article class="card problem">
      <div class="what">
        <Icon name="warning" />
        <div>
          <h2>{sentence}</h2>
          <p class="muted small">
            {texts.overview.since} <Time at={since} />
            {organization === null && ` · ${texts.overview.ofHost}`}
          </p>
        </div>
      </div>
      <p>{fix.text}</p>
      {error !== undefined && <ErrorNote error={error} />}
      <div class="row">
        {operation !== null && (
          <Action
            kind="main"
            act={() => mend(operation)}
            reason={reasonAgainst(idsOfFixes[operation.address] ?? '')}
          >
            {operation.label}
          </Action>
        )}
        {page && (
          <a class="button" href={page.path}>
            {page.label}
          </a>
        )}
      </div>
      {fix.command !== null && (
        <details>
          <summary>{texts.overview.command}</summary>
          <div class="with-copy">
            <pre>{fix.command}</pre>
            <CopyButton text={fix.command} label={texts.copy(fix.command)} />
          </div>
        </details>
      )}
    </article>
  )
}

/** The record that does not work. A folder and the host have no page. */
function pageOf(org: string, { kind, subject }: Problem): { path: string; label: string } | undefined {
  const base = `/orgs/${org}`
  const id = encodeURIComponent(subject.id)
  if (subject.kind === 'receiver')
    return { path: `${base}/receivers/${id}`, label: texts.overview.open.receiver }
  if (subject.kind === 'installation') {
    // Which settings do not fit, and what is asked for, stands there.
    const label = texts.overview.openFor[kind as keyof typeof texts.overview.openFor]
    if (kind === 'failed_work')
      return { path: `${base}/failed-work?installation=${id}`, label: texts.overview.openFor.failed_work }
    return { path: `${base}/installations/${id}`, label: label ?? texts.overview.open.installation }
  }
  if (subject.kind === 'integration')
    return { path: `${base}/integrations/${id}`, label: texts.overview.open.integration }
  return undefined
}

/** A connection goes on at its provider: the answer has a link. */
async function run({ address, params, label }: ProblemOperation): Promise<void> {
  const request = { params } as unknown as Request<Address>
  const answer: unknown = await api.call(address as Address, request)
  const { object, url } = (answer ?? {}) as { object?: string; url?: string }
  if (object === 'connect-link' && url !== undefined) return location.assign(new URL(url, location.href))
  sayDone(texts.overview.mended(label))
}
