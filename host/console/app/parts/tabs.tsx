/** Parts of a page, each with an address: links, as the address changes. */
export const Tabs = ({
  label,
  tabs,
  current,
}: {
  label: string
  tabs: readonly { id: string; label: string; href: string }[]
  current: string
}) => (
  <nav class="tabs" aria-label={label}>
    <ul>
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
