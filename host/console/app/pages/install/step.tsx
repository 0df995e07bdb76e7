import type { ComponentChildren } from 'preact'
import { Icon } from '../../parts/icon.tsx'
import { texts } from '../../texts.ts'

const words = texts.install

/** One step of the page. Those that are done, and those to come, are one line. */
export function Step({
  number,
  state,
  title,
  summary,
  change,
  children,
}: {
  number: number
  state: 'done' | 'now' | 'later'
  title: string
  summary: string
  /** The address of the step. */
  change?: string
  children: ComponentChildren
}) {
  return (
    <li class={state} aria-current={state === 'now' ? 'step' : undefined}>
      <span class="number" aria-hidden="true">
        {state === 'done' ? <Icon name="check" /> : number}
      </span>
      <div class="body">
        <div class="part-head">
          <h2>{title}</h2>
          {state === 'done' && change !== undefined && (
            <a href={change} aria-label={words.changeOf(title)}>
              {words.change}
            </a>
          )}
        </div>
        {state === 'now' ? children : <p class="muted">{summary}</p>}
      </div>
    </li>
  )
}
