import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { problemCount } from '../problems.ts'

export type Crumb = { label: string; href?: string }

/** The head of a page: crumbs, title with its state, actions, and one sentence. */
export function Head({
  title,
  icon,
  crumbs = [],
  state,
  actions,
  children,
}: {
  title: string
  icon?: ComponentChildren
  crumbs?: readonly Crumb[]
  state?: ComponentChildren
  actions?: ComponentChildren
  children?: ComponentChildren
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  // What needs the person: a tab in the background shows little else.
  const count = problemCount()
  useLayoutEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}${title} · Annex`
  }, [title, count])
  // A screen reader begins to read at the new page, as after a click on a link of plain HTML.
  useEffect(() => {
    if (document.activeElement === document.body || document.activeElement?.tagName === 'A')
      heading.current?.focus()
  }, [])
  return (
    <header>
      {crumbs.length > 0 && (
        <nav class="crumbs" aria-label="Breadcrumb">
          <ol>
            {crumbs.map(({ label, href }) => (
              <li key={label}>{href === undefined ? label : <a href={href}>{label}</a>}</li>
            ))}
          </ol>
        </nav>
      )}
      <div class="head">
        {icon}
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {state}
        {actions && <div class="actions">{actions}</div>}
        {children && <p>{children}</p>}
      </div>
    </header>
  )
}
