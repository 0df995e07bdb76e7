import { useLayoutEffect, useRef } from 'preact/hooks'

/** Parts of a page, each with an address: links, as the address changes. The current one is scrolled into view. */
export function Tabs({
  label,
  tabs,
  current,
}: {
  label: string
  tabs: readonly { id: string; label: string; href: string }[]
  current: string
}) {
  const list = useRef<HTMLUListElement>(null)
  useLayoutEffect(() => {
    const link = list.current?.querySelector('[aria-current]')
    if (list.current === null || !link) return
    const [shown, own] = [list.current.getBoundingClientRect(), link.getBoundingClientRect()]
    // `scrollIntoView` would scroll the page, too.
    list.current.scrollLeft += own.left + own.width / 2 - (shown.left + shown.width / 2)
  }, [current])
  return (
    <nav class="tabs" aria-label={label}>
      <ul ref={list}>
        {tabs.map((tab) => (
          <li key={tab.id}>
            <a href={tab.href} aria-current={tab.id === current ? 'page' : undefined}>
              {tab.label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
