import type { ComponentChildren } from 'preact'

const safeProtocols: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:'])

/** An address from data: a link only when it leads to a page or to mail, else its text. */
export function OutsideLink({ href, children }: { href: string; children: ComponentChildren }) {
  if (!URL.canParse(href) || !safeProtocols.has(new URL(href).protocol)) return <>{children}</>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" title={href}>
      {children}
    </a>
  )
}
